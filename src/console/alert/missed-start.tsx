// A start that did not come: when it was due, the last one, and the gaps between the starts before it.
import type { AlertDetail } from '../../wire/alert-detail.ts'
import { formatSpan } from '../../wire/span-text.ts'
import { plural } from '../kit/format-number.ts'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'

export function MissedStart({ late }: { late: NonNullable<AlertDetail['late']> }) {
  const { nowMs } = useView()
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
          <dt>Last start</dt>
          <dd>{last === null ? 'none in 90 days' : said(last)}</dd>
        </div>
      </dl>
      {gaps.length > 0 && <Gaps gaps={gaps} openMs={last === null ? null : nowMs - parseTime(last)} />}
    </>
  )
}

/** Oldest first; the last bar is the gap that is open, and ends now. */
function Gaps({ gaps, openMs }: { gaps: readonly number[]; openMs: number | null }) {
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
            title={`${formatSpan(ms)}${isOpen ? ', no start yet' : ''}`}
          />
        ))}
      </div>
      <p class="sub">
        {said}
        {openMs !== null && `; now ${formatSpan(openMs)}`}.
      </p>
    </>
  )
}
