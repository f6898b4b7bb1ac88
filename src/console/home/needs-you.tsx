// What needs somebody now: a line per process in trouble, worst first, with why and the one thing to do. An alert is its
// process' line, never a second one.
import { describeProcess } from '../../wire/describe-process.ts'
import type { Overview, OverviewProcess } from '../../wire/overview.ts'
import { toneOf } from '../../wire/process-state.ts'
import { ACTION_TEXT, acknowledgedText, uncheckedText } from '../../wire/words.ts'
import { EMPTY_TEXT } from '../exceptions/line-of.ts'
import { explain } from '../kit/explain.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { formatRoute } from '../kit/route.ts'
import { runLink } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { wordsAt } from '../kit/words.ts'
import { watchLink } from '../watch/watch-link.ts'

const LINES = 8

interface Props {
  readonly overview: Overview
  readonly rows: readonly OverviewProcess[]
}

/** Amber: it runs too long, or takes longer than it did. */
const isOdd = ({ state, change }: OverviewProcess): boolean =>
  toneOf(state) === 'warn' || (change !== null && change.after_ms > change.before_ms)

export function NeedsYou({ overview, rows }: Props) {
  const bad = rows.filter(({ state }) => toneOf(state) === 'bad')
  const odd = rows.filter((row) => toneOf(row.state) !== 'bad' && isOdd(row))
  const lines = [...bad, ...odd]
  const { failing_channels: failing, unjudged } = overview
  if (lines.length === 0 && failing === 0 && unjudged === 0) return null
  return (
    <section>
      <h2 class="hidden">Needs you now</h2>
      <ul class="needs">
        {failing > 0 && <WatchLine text={`${plural(failing, 'channel')} failing: notifications do not arrive`} />}
        {unjudged > 0 && <WatchLine text={uncheckedText(formatCount(unjudged), unjudged)} />}
        {lines.slice(0, LINES).map((row) => (
          <Line key={row.process} row={row} />
        ))}
      </ul>
      {lines.length > LINES && <p class="sub">and {formatCount(lines.length - LINES)} more in the table below</p>}
    </section>
  )
}

const WatchLine = ({ text }: { text: string }) => (
  <li>
    <i class="mark mark-overdue" />
    <span class="warn">{text}</span>
    <a class="button button-small" href={formatRoute('watches')}>
      Open watches
    </a>
  </li>
)

interface WhyProps extends Pick<OverviewProcess, 'process' | 'run'> {
  readonly exception: string
}

/** In the middle of a sentence, without its end. */
const within = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, '')}`

interface RowProps {
  readonly row: OverviewProcess
}

function Line({ row }: RowProps) {
  const { nowMs } = useView()
  const { process, exception, state, alerts, change, run } = row
  const said = describeProcess(row, nowMs, wordsAt(nowMs))
  const isBad = said.tone === 'bad'
  const text = isBad || said.tone === 'warn' || change === null ? said.text : (said.change ?? said.text)
  const owner = alerts.find(({ acknowledged_by: by }) => by !== null)?.acknowledged_by
  return (
    <li>
      <i class={`mark mark-${isBad ? (state === 'never_finished' ? 'abandoned' : 'failed') : 'overdue'}`} />
      <div>
        <a class="strong" href={formatRoute('process', { process })}>
          <bdi>{process}</bdi>
        </a>{' '}
        <span class={`needs-text ${isBad ? 'bad' : 'warn'}`}>{within(text)}</span>
        {isBad && exception !== null && <Why exception={exception || EMPTY_TEXT} {...{ process, run }} />}
        {owner && <span class="sub">{acknowledgedText(owner)}</span>}
      </div>
      <Action row={row} />
    </li>
  )
}

/** Leads to the run; an exception without a run leads nowhere. */
function Why({ process, run, exception }: WhyProps) {
  const { nowMs } = useView()
  const text = <bdi>{exception}</bdi>
  return run === null ? (
    <span class="needs-why" title={exception}>
      {text}
    </span>
  ) : (
    <a class="needs-why" title={exception} href={runLink(process, run, nowMs)}>
      {text}
    </a>
  )
}

function Action({ row }: RowProps) {
  const { app, again } = useView()
  const open = row.alerts.filter(({ acknowledged_by: by }) => by === null)
  if (open.length > 0 && app.may('member')) {
    const acknowledge = async () => {
      // one that ended meanwhile is refused: the next answer shows that
      const asked = await Promise.allSettled(open.map(({ id }) => app.api.send('POST', `api/alerts/${id}/ack`)))
      const refused = asked.find((one) => one.status === 'rejected')
      app.announce(refused === undefined ? 'Alert acknowledged.' : explain(refused.reason).detail)
      again()
    }
    return (
      <button
        type="button"
        class="button button-small"
        aria-label={`${ACTION_TEXT.acknowledge}: ${row.process}`}
        onClick={() => void acknowledge()}
      >
        {ACTION_TEXT.acknowledge}
      </button>
    )
  }
  if (row.state !== 'silent' || row.notified.late || !app.may('member')) return null
  return (
    <a class="button button-small" href={watchLink(row.process)}>
      Watch
    </a>
  )
}
