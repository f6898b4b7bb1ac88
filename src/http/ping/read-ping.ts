// What a ping address says. Pure.

export type Signal = 'start' | 'success' | 'fail' | 'log'

export interface Ping {
  readonly token: string
  readonly process: string
  readonly signal: Signal
  /** Of an exit code other than 0. */
  readonly exitCode: number | undefined
}

const SIGNALS = new Map<string | undefined, Signal>([
  [undefined, 'success'],
  ['start', 'start'],
  ['fail', 'fail'],
  ['log', 'log'],
])

/** `path` is what follows `/ping/`, as it was sent. Undefined when it is no ping. */
export function readPing(path: string): Ping | undefined {
  const [token = '', slug = '', last, ...more] = path.split('/')
  const process = decode(slug)
  if (token === '' || process === undefined || process === '' || more.length > 0) return undefined
  const signal = SIGNALS.get(last)
  if (signal !== undefined) return { token, process, signal, exitCode: undefined }
  if (last === undefined || !/^\d{1,3}$/.test(last) || Number(last) > 255) return undefined
  const exitCode = Number(last)
  return exitCode === 0
    ? { token, process, signal: 'success', exitCode: undefined }
    : { token, process, signal: 'fail', exitCode }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
