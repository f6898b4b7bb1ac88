// The preview of a watch: the alerts of the last 30 days, asked for again whenever its conditions change.
import { useEffect, useState } from 'preact/hooks'
import type { PreviewWatch, WatchPreview } from '../../wire/watch-preview.ts'
import { ApiError, isAbort } from '../kit/api.ts'
import { explain } from '../kit/explain.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Moment } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { describeAlert } from './alert-table.tsx'

const SETTLE_MS = 400
const SHOWN = 5
const DAY_MS = 86_400_000

interface Backtest {
  readonly isBusy: boolean
  readonly preview?: WatchPreview
  readonly error?: unknown
}

/** `watch`: undefined has no condition, so nothing is asked. */
export function useBacktest(watch: PreviewWatch | undefined): Backtest {
  const { app } = useView()
  const [state, setState] = useState<Backtest>({ isBusy: true })
  const asks = watch === undefined ? '' : JSON.stringify(watch)
  useEffect(() => {
    if (watch === undefined) return setState({ isBusy: false })
    let isStopped = false
    setState(({ preview }) => ({ isBusy: true, ...(preview && { preview }) }))
    const timer = setTimeout(() => {
      app.api
        .send('POST', 'api/watches/preview', watch)
        .then((preview) => !isStopped && setState({ isBusy: false, preview }))
        .catch((error) => !isStopped && !isAbort(error) && setState({ isBusy: false, error }))
    }, SETTLE_MS)
    return () => {
      isStopped = true
      clearTimeout(timer)
    }
  }, [asks])
  return state
}

export function BacktestResult({ test: { isBusy, preview, error } }: { test: Backtest }) {
  if (error !== undefined && !(error instanceof ApiError && error.code === 'fields_invalid'))
    return <p class="backtest warn">{explain(error).detail}</p>
  return (
    <div class="backtest" role="status" aria-busy={isBusy || undefined}>
      {preview === undefined ? (
        <p class="muted">{isBusy ? 'Looking at the last 30 days…' : 'Choose what it watches for.'}</p>
      ) : (
        <Said preview={preview} />
      )}
    </div>
  )
}

/** `Would have fired 3 times in the last 30 days` */
export function describePreview({ from, to, events, truncated, total }: WatchPreview): string {
  if (events === 0) return 'Nothing that these conditions look at was sent in the last 30 days'
  const days = Math.max(1, Math.round((parseTime(to) - parseTime(from)) / DAY_MS))
  const range = truncated ? `${plural(days, 'day')} (50,000 events is the most that is tested)` : '30 days'
  return `Would have fired ${plural(total, 'time')} in the last ${range}`
}

function Said({ preview }: { preview: WatchPreview }) {
  const { events, total, alerts } = preview
  const text = describePreview(preview)
  if (events === 0) return <p class="muted">{text}.</p>
  return (
    <>
      <p class={total === 0 ? 'strong' : 'strong warn'}>
        {text}
        {total === 0 ? '.' : ':'}
      </p>
      {total > 0 && (
        <ul>
          {alerts.slice(0, SHOWN).map((alert) => (
            <li key={`${alert.since} ${alert.condition} ${alert.meta} ${alert.uid}`}>
              <Moment at={alert.since} />{' '}
              <bdi title={alert.summary}>
                {alert.process} {describeAlert(alert)}
                {alert.meta !== null && ` (${alert.meta})`}
              </bdi>
            </li>
          ))}
        </ul>
      )}
      {total > SHOWN && <p class="sub">and {formatCount(total - SHOWN)} more</p>}
    </>
  )
}
