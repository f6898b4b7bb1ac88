// The socket under the app.
import type { AnyElysia } from 'elysia'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { readTls, type TlsPair, type TlsPaths } from '../read-tls.ts'
import { problemResponse } from './problem-response.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly tls: TlsPaths | undefined
  readonly log: Logger
}

export interface Listener {
  readonly url: string
  /** The address at the other end of the connection that brought a request. */
  peerOf(request: Request): string | undefined
  /** Accepts no more, lets requests in flight finish, and returns when they have. */
  stop(): Promise<void>
}

/** Far above what any path takes: a larger body is cut off by Bun itself, with an empty answer and before the key was looked at. */
const MAX_REQUEST_BYTES = 2 ** 62

/** The longest time a request may trickle in or a handler may take. */
const IDLE_TIMEOUT_S = 60

/** Again, as the files are now: config looked at them, and at a pipe not at all. */
function pairOf(paths: TlsPaths): TlsPair {
  const read = readTls(paths)
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  return read
}

/** Why there is no listening, by the code of the error; Bun's own words name neither setting. */
const NOT_LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'the address is none of this machine',
  EACCES: 'this user may not listen on the port',
  EINVAL: 'the host is not known here',
}

/** Throws an Error for the operator when TLS cannot be had, and when HOST and PORT cannot: without `reusePort: false` a second Stint would silently share a port. */
export function listen(app: AnyElysia, { host, port, tls, log }: ListenOptions): Listener {
  const secured = tls && pairOf(tls)
  try {
    app.listen({
      hostname: host,
      port,
      reusePort: false,
      development: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      ...(secured && { tls: secured }),
      error: (err: unknown) => {
        log.error({ err }, 'a request failed outside the app')
        return problemResponse(new Problem('internal', 'An unexpected fault; the log holds the details.'))
      },
    } as Parameters<AnyElysia['listen']>[0])
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    throw new Error(`HOST=${host} PORT=${port}: cannot listen there: ${NOT_LISTENING[code] ?? message}`, { cause })
  }
  const server = app.server!
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    peerOf: (request) => server.requestIP(request)?.address,
    stop: () => server.stop(),
  }
}
