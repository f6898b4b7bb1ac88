// The socket under the app.
import { lookup } from 'node:dns/promises'
import type { AnyElysia } from 'elysia'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { readTls, type TlsPair, type TlsPaths } from '../setting-files.ts'
import { problemResponse } from './answers.ts'

interface ListenOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly tls: TlsPaths | undefined
  readonly log: Logger
}

export type Listener = Awaited<ReturnType<typeof listen>>

/** Far above every path's limit: Bun cuts a larger body off with an empty answer, before the key is checked. */
const MAX_REQUEST_BYTES = 2 ** 62

/** The longest time a request may trickle in or a handler may take. */
const IDLE_TIMEOUT_S = 60

/** Again, as the files are now: config looked at them, and at a pipe not at all. Throws an Error for the operator. */
function pairOf(paths: TlsPaths): TlsPair {
  const read = readTls(paths)
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  return read
}

/** Messages by error code: Bun's own ones do not name the setting. */
const NOT_LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop the other program or set another PORT',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not listen on that port; set a PORT above 1023',
}

/** Bun reports a name that does not resolve as a port in use, so the name is resolved first. */
async function resolveHost(host: string): Promise<string> {
  try {
    return (await lookup(host)).address
  } catch (cause) {
    throw new Error(`HOST=${host}: cannot listen: host name does not resolve; set an address such as 127.0.0.1`, {
      cause,
    })
  }
}

/** Rejects with an Error for the operator when the TLS files cannot be used or HOST and PORT cannot be listened on. */
export async function listen(app: AnyElysia, options: ListenOptions) {
  const { host, port, tls, log } = options
  const pair = tls && pairOf(tls)
  const hostname = await resolveHost(host)
  try {
    app.listen({
      hostname,
      port,
      reusePort: false, // or a second Stint would share the port
      development: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      ...(pair && { tls: pair }),
      error: (err: unknown) => {
        log.error({ err }, 'a request failed outside the app')
        return problemResponse(new Problem('internal', 'An unexpected fault; the log holds the details.'))
      },
    } as Parameters<AnyElysia['listen']>[0])
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    throw new Error(`HOST=${host} PORT=${port}: cannot listen: ${NOT_LISTENING[code] ?? message}`, { cause })
  }
  const server = app.server as Bun.Server<unknown>
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    /** The address at the other end of the connection that brought a request. */
    peerOf: (request: Request): string | undefined => server.requestIP(request)?.address,
    /** Accepts no more, lets requests in flight finish, and returns when they have. */
    stop: (): Promise<void> => server.stop(),
  }
}
