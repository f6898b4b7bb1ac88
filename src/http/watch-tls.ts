// Notices renewed TLS files. Their contents are compared, because Kubernetes and certbot swap symbolic links, which a watch on a file misses.
import { statSync } from 'node:fs'
import type { Logger } from '../log.ts'
import { readTls, type TlsPair, type TlsPaths } from '../read-tls.ts'

export interface WatchTlsOptions {
  readonly paths: TlsPaths
  /** The pair in use. */
  readonly pair: TlsPair
  readonly everyMs: number
  /** Throws when the pair cannot be used: it is tried again at the next look. */
  use(pair: TlsPair): void
  readonly log: Logger
}

/** A pair that is half replaced or damaged is logged once per reason, and the old one stays in use. */
export function watchTls({ paths, pair, everyMs, use, log }: WatchTlsOptions): { stop(): void } {
  if (isPipe(paths.certPath) || isPipe(paths.keyPath)) return { stop() {} } // can be read only once
  let current = pair
  let reported = ''
  const look = () => {
    const read = readTls(paths)
    try {
      if ('problems' in read) throw new Error(read.problems.join('\n'))
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

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false
}
