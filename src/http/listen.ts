// The socket under the app. When the TLS files change, a second socket with the new certificate opens on the same port
// before the first one closes: Bun cannot change the certificate of an open one.
import { lookup } from 'node:dns/promises'
import type { AnyElysia } from 'elysia'
import type { Logger } from '../log.ts'
import { Problem } from '../problem.ts'
import { isPipe, readTls, type TlsPair, type TlsPaths } from '../setting-files.ts'
import { problemResponse } from './answers.ts'

export interface ListenOptions {
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
  readonly tls: TlsPaths | undefined
  readonly log: Logger
  /** How often the TLS files are compared with the certificate in use. */
  readonly tlsCheckEveryMs?: number
}

export interface Listener {
  readonly url: string
  /** The address at the other end of the connection that brought a request. */
  peerOf(request: Request): string | undefined
  /** Accepts no more, lets requests in flight finish, and returns when they have. */
  stop(): Promise<void>
}

/** Far above every path's limit: Bun cuts a larger body off with an empty answer, before the key is checked. */
const MAX_REQUEST_BYTES = 2 ** 62

/** Certificates are renewed days before they expire. */
const TLS_CHECK_EVERY_MS = 30_000

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

type Server = Bun.Server<unknown>

/** A second Stint would share the port silently, as both sockets allow it: an exclusive socket looks first. */
function assertPortFree(hostname: string, port: number): void {
  void Bun.serve({ hostname, port, reusePort: false, fetch: () => new Response() }).stop(true)
}

/** Rejects with an Error for the operator when the TLS files cannot be used or HOST and PORT cannot be listened on. */
export async function listen(app: AnyElysia, options: ListenOptions): Promise<Listener> {
  const { host, port, tls, log, tlsCheckEveryMs = TLS_CHECK_EVERY_MS } = options
  const secured = tls && pairOf(tls)
  const hostname = await resolveHost(host)
  const open = (port: number, pair: TlsPair | undefined): Server => {
    app.listen({
      hostname,
      port,
      reusePort: pair !== undefined,
      development: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: MAX_REQUEST_BYTES,
      ...(pair && { tls: pair }),
      error: (err: unknown) => {
        log.error({ err }, 'a request failed outside the app')
        return problemResponse(new Problem('internal', 'An unexpected fault; the log holds the details.'))
      },
    } as Parameters<AnyElysia['listen']>[0])
    return app.server as Server
  }

  let server: Server
  try {
    if (secured && port !== 0) assertPortFree(hostname, port)
    server = open(port, secured)
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    throw new Error(`HOST=${host} PORT=${port}: cannot listen: ${NOT_LISTENING[code] ?? message}`, { cause })
  }

  const stopping = new Set<Promise<void>>()
  const stop = (it: Server) => {
    const stopped = it.stop().finally(() => stopping.delete(stopped))
    stopping.add(stopped)
  }
  const renewal =
    tls &&
    secured &&
    watchTls({
      paths: tls,
      pair: secured,
      everyMs: tlsCheckEveryMs,
      log,
      use(pair) {
        const old = server
        server = open(old.port!, pair)
        stop(old)
      },
    })
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    peerOf: (request) => server.requestIP(request)?.address,
    async stop() {
      renewal?.stop()
      stop(server)
      await Promise.all(stopping)
    },
  }
}

// Notices renewed TLS files by their contents: Kubernetes and certbot swap symbolic links, which a file watch misses.
interface WatchTlsOptions {
  readonly paths: TlsPaths
  /** The pair in use. */
  readonly pair: TlsPair
  readonly everyMs: number
  /** Throws when the pair cannot be used: it is tried again at the next look. */
  use(pair: TlsPair): void
  readonly log: Logger
}

/** A pair that is half replaced or damaged is logged once per reason, and the old one stays in use. */
function watchTls({ paths, pair, everyMs, use, log }: WatchTlsOptions): { stop(): void } {
  if (isPipe(paths.certPath) || isPipe(paths.keyPath)) return { stop() {} } // can be read only once
  let current = pair
  let reported = ''
  const look = () => {
    try {
      const read = pairOf(paths)
      if (read.cert === current.cert && read.key === current.key) return
      use(read)
      current = read
      reported = ''
      log.info('TLS certificate renewed')
    } catch (error) {
      const reason = (error as Error).message
      if (reason !== reported) log.error({ reason }, 'TLS certificate not renewed: the old one stays in use')
      reported = reason
    }
  }
  const timer = setInterval(look, everyMs)
  return { stop: () => clearInterval(timer) }
}
