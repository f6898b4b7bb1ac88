// A secret of the settings. The file of a NAME_FILE is read again when the secret is used, at most once a second, so
// that a rotation needs no restart.
import { systemClock } from './clock.ts'
import { isFile, readText } from './setting-files.ts'

/** Its text, or what tells the current one. */
export type Secret = string | (() => string)

export const textOf = (secret: Secret): string => (typeof secret === 'string' ? secret : secret())

/** Hears of a file that holds something else now; what is not valid is not used. */
export type NoteSecret = (variable: string, isValid: boolean) => void

const EVERY_US = 1_000_000

/** `first` is its text at the start. */
export function followFile(
  path: string,
  first: string,
  isValid: (text: string) => boolean,
  note: (isValid: boolean) => void,
) {
  let [current, seen] = [first, first]
  let readUs = systemClock.monotonicUs()
  return (): string => {
    const nowUs = systemClock.monotonicUs()
    if (nowUs - readUs < EVERY_US || !isFile(path)) return current // a pipe can be read only once
    readUs = nowUs
    const text = readNow(path)
    if (text === seen || text === undefined) return current
    seen = text
    const isNew = text !== '' && isValid(text)
    if (isNew) current = text
    note(isNew)
    return current
  }
}

/** undefined while it is not there: it may be about to be replaced. */
function readNow(path: string): string | undefined {
  try {
    return readText(path).trim()
  } catch {
    return undefined
  }
}
