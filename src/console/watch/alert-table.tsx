// Alerts: which process has which fault, since when, in the reader's time zone; who is on it; why it ended.
import type { Alert, EndedBy, Unjudged } from '../../wire/alerts.ts'
import { CONDITION_TABLE, type ConditionEntry } from '../../wire/conditions.ts'
import { figureOf, isAboutException, isNeverFinished } from '../../wire/describe-process.ts'
import { ACTION_TEXT, acknowledgedText } from '../../wire/words.ts'
import { formatRoute } from '../kit/route.ts'
import { actionColumn, RowAction, Table } from '../kit/table.tsx'
import { Ago } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { inReadersZone } from '../kit/words.ts'
import { type Change, changeAlerts } from './change-alerts.ts'
import { alertLink } from './watch-link.ts'

type AlertText = Pick<Alert, 'condition' | 'summary' | 'process' | 'meta'>

/** In few words: process, meta and time are beside it. Of a metric, what the server says of its values. */
export function describeAlert(alert: AlertText): string {
  const { happened = figureOf(alert) }: ConditionEntry = CONDITION_TABLE[alert.condition]
  if (isNeverFinished(alert)) return 'never finished'
  return isAboutException(alert) ? 'raised an exception' : happened
}

const BY_OTHERS = {
  changed: 'because its watch was changed',
  deleted: 'because its watch was deleted',
  person: 'by hand',
  expired: 'because nothing arrived any more',
} as const satisfies Record<Exclude<EndedBy, 'event'>, string>

/** `by the next run`; empty where an earlier version ended it. */
export const endedText = ({ ended_by: by, condition }: Pick<Alert, 'ended_by' | 'condition'>): string =>
  by === null ? '' : by === 'event' ? CONDITION_TABLE[condition].ended : BY_OTHERS[by]

/** Does something to a row; its failure is shown above all tables. */
export type Act = (work: () => Promise<unknown>, done: string) => void

interface Props {
  readonly alerts: readonly Alert[]
  readonly chosenWatch: string | undefined
  readonly act: Act
}

export function AlertTable({ alerts, chosenWatch, act }: Props) {
  return (
    <Table<Alert>
      caption="Alerts"
      rows={alerts}
      isChosen={({ watch }) => watch.id === chosenWatch}
      columns={[
        { label: 'State', class: 'tight', cell: (alert) => <State alert={alert} /> },
        { label: 'Alert', cell: (alert) => <Sentence alert={alert} /> },
        { label: 'Since', class: 'minor', cell: ({ since }) => <Ago at={since} /> },
        {
          label: 'Resolved',
          class: 'extra',
          cell: ({ resolved_at: at, ended_by: why, condition }) =>
            at === null ? (
              '–'
            ) : (
              <>
                <Ago at={at} />
                {why !== null && <span class="sub">{endedText({ ended_by: why, condition })}</span>}
              </>
            ),
        },
        actionColumn(({ id, state, acknowledged, summary }, { app: { api } }) => {
          if (state !== 'firing') return null
          const to = (change: Change) => () => act(...changeAlerts(api, [id], change))
          return (
            <>
              {acknowledged === null ? (
                <RowAction label={ACTION_TEXT.acknowledge} about={summary} act={to('acknowledge')} />
              ) : (
                <RowAction label="Undo" about={`acknowledgement of ${summary}`} act={to('undo')} />
              )}
              <RowAction label="Resolve" about={summary} act={to('resolve')} />
            </>
          )
        }, 'member'),
      ]}
    />
  )
}

function State({ alert: { state, acknowledged } }: { alert: Alert }) {
  if (state === 'resolved') return <span class="badge badge-off">resolved</span>
  if (acknowledged === null) return <span class="badge badge-bad">firing</span>
  return <span class="badge badge-warn">acknowledged</span>
}

function Sentence({ alert }: { alert: Alert }) {
  const { nowMs } = useView()
  const { id, process, meta, summary, watch, state, acknowledged, since } = alert
  return (
    <>
      <span title={inReadersZone(summary, nowMs)}>
        <a class="strong" href={formatRoute('process', { process })}>
          <bdi>{process}</bdi>
        </a>{' '}
        <a class="plain" href={alertLink(id)}>
          {inReadersZone(describeAlert(alert), nowMs)}
        </a>
        {meta !== null && (
          <span class="muted">
            {' '}
            (<bdi>{meta}</bdi>)
          </span>
        )}
        <span class="muted on-phone">
          {' '}
          <Ago at={since} />
        </span>
      </span>
      <span class="sub">
        <bdi>{watch.name}</bdi>
        {state === 'firing' && acknowledged !== null && (
          <>
            {' · '}
            <bdi>{acknowledgedText(acknowledged.by)}</bdi> <Ago at={acknowledged.at} />
          </>
        )}
      </span>
    </>
  )
}

/** Checks without a result, each with the reason. */
export function UnjudgedList({ unjudged }: { unjudged: readonly Unjudged[] }) {
  const { nowMs } = useView()
  return (
    <section>
      <h2>Not checked</h2>
      <ul class="rows card">
        {unjudged.map(({ watch, condition, process, since, reason }) => (
          <li key={`${watch.id} ${condition} ${process} ${since}`}>
            <span class="grow">
              <strong>
                <bdi>{[watch.name, process, condition].filter(Boolean).join(' · ')}</bdi>
              </strong>{' '}
              {inReadersZone(reason, nowMs)}
            </span>
            <Ago at={since} />
          </li>
        ))}
      </ul>
    </section>
  )
}
