// The answer to the first question: how is it, since when, why, and what to open.
import { describeProcess } from '../../wire/describe-process.ts'
import type { ExceptionGroups } from '../../wire/exceptions.ts'
import type { OverviewProcess } from '../../wire/overview.ts'
import { EMPTY_TEXT } from '../exceptions/headline.ts'
import { plural } from '../kit/format-number.ts'
import { formatRoute } from '../kit/route.ts'
import { markOf, runLink } from '../kit/run-links.ts'
import { useView } from '../kit/view.tsx'
import { wordsAt } from '../kit/words.ts'

interface Props {
  readonly row: OverviewProcess
  readonly groups: ExceptionGroups['groups']
}

export function StateSentence({ row, groups }: Props) {
  const { nowMs } = useView()
  const { process, run, exception, fingerprint, state } = row
  const said = describeProcess(row, nowMs, wordsAt(nowMs))
  const isBad = said.tone === 'bad'
  const group = groups.find((it) => it.fingerprint === fingerprint)
  const mark = isBad ? (run === null ? 'failed' : markOf(run[1])) : state === 'overdue' ? 'overdue' : undefined
  return (
    <div class="process-top">
      <p class={`process-sentence ${said.tone}`} role="status">
        <i class={`mark mark-${state === 'silent' ? 'failed' : (mark ?? run?.[1] ?? 'completed')}`} />
        <span>{said.text}</span>
      </p>
      {said.change !== undefined && <p class="process-change">{said.change}</p>}
      {isBad && exception !== null && (
        <p class="process-why">
          <code>{exception || EMPTY_TEXT}</code>
        </p>
      )}
      {isBad && run !== null && (
        <p class="button-row">
          <a class="button button-main" href={runLink(process, run, nowMs)}>
            {state === 'silent' ? 'Open the last run' : 'Open this run'}
          </a>
          {fingerprint !== null && (
            <a
              class="button"
              href={formatRoute('exceptions', { process, from: '-7d', group: fingerprint ?? undefined })}
            >
              {group === undefined || group.runs === 0
                ? 'All runs with this exception'
                : `All ${plural(group.runs, 'run')} with this exception`}
            </a>
          )}
        </p>
      )}
    </div>
  )
}
