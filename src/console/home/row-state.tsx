// How a process is, in its row of Home: the sentence, of one in trouble also why, for how long and who has it.
import { describeProcess } from '../../wire/describe-process.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { toneOf } from '../../wire/process-state.ts'
import { acknowledgedText } from '../../wire/words.ts'
import { EMPTY_TEXT } from '../exceptions/line-of.ts'
import { formatCount } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { isTrouble, runLink } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { shortMoment, wordsAt } from '../kit/words.ts'
import { alertLink, alertOf } from '../watch/watch-link.ts'
import { isOdd } from './select-rows.ts'

export function RowState({ row }: { row: OverviewProcess }) {
  const { nowMs } = useView()
  const { state, exception, alerts } = row
  const { tone, text, change } = describeProcess(row, nowMs, wordsAt(nowMs))
  const [said, alert] = [text.replace(/\.$/, ''), alertOf(row)]
  const owner = alerts.find(({ acknowledged_by: by }) => by !== null)?.acknowledged_by
  const streak = describeStreak(row, (ms) => shortMoment(ms, nowMs))
  return (
    <>
      <span class={`state ${tone === 'good' ? '' : tone}`}>
        <i class={`mark mark-${state}`} />
        {alert === undefined ? said : <a href={alertLink(alert.id)}>{said}</a>}
      </span>
      {tone === 'bad' && exception !== null && <Why {...{ row, exception: exception || EMPTY_TEXT }} />}
      {streak !== undefined && <span class="sub">{streak}</span>}
      {isOdd(row) && change !== undefined && <span class="sub warn">{change.replace(/\.$/, '')}</span>}
      {owner && <span class="sub">{acknowledgedText(owner)}</span>}
    </>
  )
}

/** Leads to the run; an exception without a run leads nowhere. */
function Why({ row: { process, run }, exception }: { row: OverviewProcess; exception: string }) {
  const { nowMs } = useView()
  const text = <bdi>{exception}</bdi>
  return run === null ? (
    <span class="row-why" title={exception}>
      {text}
    </span>
  ) : (
    <a class="row-why" title={exception} href={runLink(process, run, nowMs)}>
      {text}
    </a>
  )
}

/** `3 times in a row since 26 Nov 03:00`, if the runs of the meta in trouble before this one had it, too. */
export function describeStreak({ meta, state, runs }: OverviewProcess, moment: (ms: number) => string) {
  if (toneOf(state) !== 'bad' || state === 'silent') return undefined
  const over = runs.filter((run) => run[3] === meta && run[1] !== 'running')
  const first = over.findIndex(([, one]) => !isTrouble(one))
  const streak = first < 0 ? over : over.slice(0, first)
  if (streak.length < 2) return undefined
  const times = `${formatCount(streak.length)} times in a row`
  return `${first < 0 ? `At least ${times}` : times} since ${moment(parseTime(streak.at(-1)![0]))}`
}
