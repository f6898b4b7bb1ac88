// A time as people read it; its tooltip has the exact one, in UTC.
import { formatAgo, formatFullDay, formatMoment, parseTime } from './format-time.ts'

interface Props {
  readonly at: string
  readonly nowMs: number
}

export const Ago = ({ at, nowMs }: Props) => (
  <time dateTime={at} title={at}>
    {formatAgo(parseTime(at), nowMs)}
  </time>
)

export const Moment = ({ at, nowMs }: Props) => (
  <time dateTime={at} title={at}>
    {formatMoment(parseTime(at), nowMs)}
  </time>
)

export const Day = ({ at }: { at: string }) => (
  <time dateTime={at} title={at}>
    {formatFullDay(parseTime(at))}
  </time>
)
