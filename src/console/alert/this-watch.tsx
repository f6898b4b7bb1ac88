// The watch that fired: its conditions in words, a way to change them, and how often they would have fired.
import type { AlertDetail } from '../../wire/alert-detail.ts'
import { describeConditions } from '../../wire/conditions.ts'
import type { Watch } from '../../wire/watches.ts'
import { Card } from '../kit/icon.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { Link, useView } from '../kit/view.tsx'
import { describePreview, useBacktest } from '../watch/backtest.tsx'
import { toWatch, valuesOf } from '../watch/sentences.ts'
import { WatchDialog } from '../watch/watch-dialog.tsx'

export function ThisWatch({ detail: { alert, watch } }: { detail: AlertDetail }) {
  if (watch === null)
    return (
      <Card title="This watch">
        <p class="muted">
          <bdi>{alert.watch.name}</bdi> was deleted.
        </p>
      </Card>
    )
  return <Shown watch={watch} />
}

function Shown({ watch }: { watch: Watch }) {
  const { app, again, open } = useView()
  const { attempt, fault } = useAttempt()
  const { isBusy, preview } = useBacktest(toWatch(valuesOf(watch)))
  const change = () =>
    attempt(async () => {
      const { channels } = await app.api.get('api/channels')
      open((close) => <WatchDialog {...{ watch, channels, close }} done={again} />)
    })
  return (
    <Card
      title="This watch"
      end={
        app.may('member') && (
          <button
            type="button"
            class="button button-small"
            aria-label={`Change ${watch.name}`}
            onClick={() => void change()}
          >
            Change
          </button>
        )
      }
    >
      <p>
        <Link class="strong plain" to="watches" of={{ watch: watch.id }} text={watch.name} />{' '}
        <span class="muted">
          {watch.state === 'paused' && 'is paused. It '}fires when it {describeConditions(watch)}.
        </span>
      </p>
      <p class="sub" aria-busy={isBusy || undefined}>
        {preview !== undefined
          ? `${describePreview(preview)}.`
          : isBusy
            ? 'Looking at the last 30 days…'
            : 'The last 30 days are not available.'}
      </p>
      {fault}
    </Card>
  )
}
