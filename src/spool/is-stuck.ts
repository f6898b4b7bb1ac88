// Does the disk not finish a write? Callers have given up by then, and may send again what is being written.
import type { Spool } from './spool.ts'

const STUCK_AFTER_US = 60e6

/** `nowUs`: the stamp clock. */
export const isStuck = (spool: Pick<Spool, 'writingUs'>, nowUs: number): boolean =>
  nowUs - (spool.writingUs() ?? nowUs) > STUCK_AFTER_US
