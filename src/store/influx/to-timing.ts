// A timing as the questions answer it, of marks as InfluxDB holds them.
import { toTiming as timingOf } from '../pair-marks.ts'
import type { Timing } from '../source.ts'
import type { MarkRow, Subject } from './read-marks.ts'
import type { Settled } from './stream-timings.ts'

const storedMark = (subject: Subject, { mark, uid, at, stampUs, sub }: MarkRow) => ({
  ...subject,
  ...{ mark, uid, ns: BigInt(at) * 1000n },
  stamp: BigInt(stampUs) * 1000n + BigInt(sub),
})

export const toTiming = ({ state, subject, mark, start }: Settled): Timing =>
  timingOf(state, storedMark(subject, mark), start && storedMark(subject, start))
