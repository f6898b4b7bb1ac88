// A start that did not come: when it was due, the last one, and the gaps between the starts before it.
import type { AlertDetail } from '../../wire/alert-detail.ts'
import type { Alert } from '../../wire/alerts.ts'
import { formatSpan } from '../../wire/span-text.ts'
import { plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'
import { openGapOf } from './alert-words.ts'

interface Props {
  readonly alert: Alert
  readonly late: NonNullable<AlertDetail['late']>
}

export function MissedStart({ alert, late }: Props) {
  const { nowMs } = useView()
  const isFiring = alert.state === 'firing'
  const { due_at: due, last_start_at: last, gaps_ms: gaps } = late
  const said = (at: string | null) =>
    at === null ? 'not known' : `${shortMoment(parseTime(at), nowMs)}, ${formatAgo(parseTime(at), nowMs)}`
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Due</dt>
          <dd>{said(due)}</dd>
        </div>
        <div>
          <dt>{isFiring ? 'Last start' : 'Start before it'}</dt>
          <dd>{last === null ? 'none in 90 days' : said(last)}</dd>
        </div>
      </dl>
      {gaps.length > 0 && <Gaps {...{ gaps, isFiring }} openMs={openGapOf(alert, last, nowMs)} />}
    </>
  )
}

interface GapsProps {
  readonly gaps: readonly number[]
  /** With the missing start in it; null: not known. */
  readonly openMs: number | null
  readonly isFiring: boolean
}

/** Oldest first; the last bar is the gap with the missing start, which ends now while the alert fires. */
function Gaps({ gaps, openMs, isFiring }: GapsProps) {
  const shown = [
    ...gaps.map((ms) => ({ ms, isOpen: false })),
    ...(openMs === null ? [] : [{ ms: openMs, isOpen: true }]),
  ]
  const longest = Math.max(1, ...shown.map(({ ms }) => ms))
  const [least, most] = [Math.min(...gaps), Math.max(...gaps)]
  const between =
    formatSpan(least) === formatSpan(most) ? formatSpan(most) : `${formatSpan(least)} to ${formatSpan(most)}`
  const said = `The last ${plural(gaps.length, 'gap')} between starts: ${between}`
  return (
    <>
      <div class="run-bars gaps" role="img" aria-label={said}>
        {shown.map(({ ms, isOpen }, i) => (
          <i
            key={i}
            class={`run-bar ${isOpen ? 'run-bar-failed' : ''}`}
            style={{ '--h': `${Math.max(6, (ms / longest) * 100)}%` }}
            title={`${formatSpan(ms)}${isOpen && isFiring ? ', no start yet' : ''}`}
          />
        ))}
      </div>
      <p class="sub">
        {said}
        {openMs !== null && `; ${isFiring ? 'now' : 'this one'} ${formatSpan(openMs)}`}.
      </p>
    </>
  )
}
