// A time as people read it; its tooltip has the exact one, in UTC.
import { formatAgo, formatClock, formatFullDay, formatMoment, parseTime } from './format-time.ts'
import { useView } from './view.tsx'

const timeOf = (format: (ms: number, nowMs: number) => string) =>
  function Time({ at }: { at: string }) {
    const { nowMs } = useView()
    return (
      <time dateTime={at} title={at}>
        {format(parseTime(at), nowMs)}
      </time>
    )
  }

/** `5 min ago` */
export const Ago = timeOf(formatAgo)
/** `21:52:42`, whatever the day */
export const Clock = timeOf(formatClock)
/** `21:52:42` */
export const Moment = timeOf(formatMoment)
/** `20 Nov 2026` */
export const Day = timeOf(formatFullDay)
