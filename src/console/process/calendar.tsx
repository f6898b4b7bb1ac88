// 90 days at most, a column a week: from the week of the first run on. Grey is a day of which less than 1 % failed.
import type { SummaryRow } from '../../wire/timings.ts'
import { plural } from '../kit/format-number.ts'
import { formatDay, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { formatRoute } from '../kit/route.ts'
import { useView } from '../kit/view.tsx'
import { countEnded } from '../timeline/count-bins.ts'

const DAYS = 90
const CELL = 15
const GAP = 3
const LEFT = 26
const TOP = 16
const STEP = CELL + GAP
/** At most so large. */
const LARGER = 1.2
/** A part of the runs of a day. */
const FEW = 0.01
const NAMES = [
  [0, 'Mo'],
  [2, 'We'],
  [4, 'Fr'],
] as const

interface Props {
  readonly process: string
  /** The chosen one. */
  readonly meta: string | undefined
  readonly days: readonly SummaryRow[]
}

interface Day {
  readonly fromMs: number
  readonly toMs: number
  readonly bad: number
  readonly all: number
}

export function Calendar({ process, meta, days }: Props) {
  const { nowMs } = useView()
  const all = daysOf(days, nowMs)
  const first = all.findIndex((day) => day.all > 0)
  if (first < 0) return null
  const cells = all.slice(first - (first % 7))
  const weeks = Math.ceil(cells.length / 7)
  return (
    <Card title={first < 7 ? '90 days' : `Since ${formatDay(all[first]!.fromMs)}`}>
      <svg
        class="calendar"
        viewBox={`0 0 ${LEFT + weeks * STEP} ${TOP + 7 * STEP}`}
        style={{ maxWidth: `${LARGER * (LEFT + weeks * STEP)}px` }}
        role="group"
        aria-label="Runs by day"
      >
        {monthsOf(cells).map(({ week, name }) => (
          <text key={week} class="chart-text" x={LEFT + week * STEP} y={10}>
            {name}
          </text>
        ))}
        {NAMES.map(([row, name]) => (
          <text key={name} class="chart-text" x={0} y={TOP + row * STEP + 12}>
            {name}
          </text>
        ))}
        {cells.map((day, i) => (
          <DayCell key={day.fromMs} {...{ process, meta, day }} place={i} />
        ))}
      </svg>
      <p class="calendar-key sub">
        <i class="day-key fine" /> less than 1 % failed <i class="day-key some" />
        <i class="day-key many" />
        <i class="day-key most" /> more <i class="day-key none" /> no run
      </p>
    </Card>
  )
}

/** From a Monday on to today, in the reader's zone. */
export function daysOf(rows: readonly SummaryRow[], nowMs: number): Day[] {
  const dayOf = (ms: number) => new Date(ms).toDateString()
  const byDay = new Map(rows.flatMap((row) => (row.at === undefined ? [] : [[dayOf(parseTime(row.at)), row]])))
  const day = new Date(nowMs)
  day.setHours(0, 0, 0, 0)
  day.setDate(day.getDate() - (DAYS - 1))
  day.setDate(day.getDate() - ((day.getDay() + 6) % 7))
  const days: Day[] = []
  while (day.getTime() <= nowMs) {
    const fromMs = day.getTime()
    const row = byDay.get(dayOf(fromMs))
    day.setDate(day.getDate() + 1)
    days.push({ fromMs, toMs: day.getTime(), ...countEnded(row === undefined ? [] : [row]) })
  }
  return days
}

/** Where a month begins. The first week may be the end of one: then the name of the next has its place. */
export function monthsOf(days: readonly Pick<Day, 'fromMs'>[]): { week: number; name: string }[] {
  const months: { week: number; name: string }[] = []
  let last = -1
  for (let week = 0; week * 7 < days.length; week++) {
    const at = new Date(days[week * 7]!.fromMs)
    if (at.getMonth() === last) continue
    last = at.getMonth()
    if (months.at(-1)?.week === week - 1) months.pop()
    months.push({ week, name: at.toLocaleDateString(undefined, { month: 'short' }) })
  }
  return months
}

export const kindOf = ({ bad, all }: Pick<Day, 'bad' | 'all'>): string =>
  all === 0 ? 'none' : bad / all < FEW ? 'fine' : bad / all < 0.05 ? 'some' : bad / all < 0.5 ? 'many' : 'most'

function describeDay({ fromMs, bad, all }: Day): string {
  if (all === 0) return `${formatDay(fromMs)}: no run`
  const said =
    bad === 0 ? `${plural(all, 'run')}, all completed` : `${bad} of ${plural(all, 'run')} failed or never finished`
  return `${formatDay(fromMs)}: ${said}`
}

function DayCell({ process, meta, day, place }: Omit<Props, 'days'> & { day: Day; place: number }) {
  const text = describeDay(day)
  const square = (
    <rect
      class={`day day-${kindOf(day)}`}
      x={LEFT + Math.floor(place / 7) * STEP}
      y={TOP + (place % 7) * STEP}
      width={CELL}
      height={CELL}
      rx={3}
    >
      <title>{text}</title>
    </rect>
  )
  if (day.all === 0) return square
  const [from, to] = [day.fromMs, day.toMs].map((ms) => new Date(ms).toISOString()) as [string, string]
  return (
    <a href={formatRoute('runs', { process, meta, from, to })} tabIndex={-1} aria-label={text}>
      {square}
    </a>
  )
}
