// How the command of a run ended, by the first line of its exception, as `stint exec`, stint.sh and pings write it.
// Free of schemas: it is in the console's bundle.
import { ENDING } from '../event/failed-command.ts'
import type { AlertRun } from './alert-detail.ts'

/** The first of these texts that says it; null if none does. */
export function exitOf(exceptions: readonly { readonly exception: string }[]): AlertRun['exit'] {
  for (const { exception } of exceptions) {
    const [, , how = ''] = ENDING.exec(exception.slice(0, FIRST_LINE_MAX).split('\n', 1)[0]!) ?? []
    const [, code, signal] = /(?:exited with code (\d+)|was ended by (.+))$/.exec(how) ?? []
    if (code !== undefined) return { code: Number(code), signal: null }
    if (signal !== undefined) return { code: null, signal }
  }
  return null
}

const FIRST_LINE_MAX = 1_000
