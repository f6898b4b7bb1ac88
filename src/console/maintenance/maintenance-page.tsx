// Windows in which notifications are held back, once or repeating; watches are judged as ever. `?process=` in the
// address plans one.
import type { Maintenance, Maintenances } from '../../wire/maintenance.ts'
import { describeNextDue } from '../../wire/next-due.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { askForDeletion, askForEnd, askToEdit, MaintenanceDialog } from './maintenance-dialogs.tsx'

const EVERY_MS = 10_000

const ask = ({ app, signal }: Question<Maintenances>): Promise<Maintenances> =>
  app.api.get<Maintenances>('api/maintenance', {}, signal)

function Heading({ app, params, again }: Omit<Shown<Maintenances>, 'answer'>) {
  const process = params.get('process')
  const mayChange = app.may('member')
  return (
    <PageHeader title="Maintenance" lead="Notifications are held back in these windows; watches are judged as ever.">
      {mayChange && (
        <button
          type="button"
          class="button button-main"
          onClick={() => app.go('maintenance', { process: '' }, 'replace')}
        >
          Plan maintenance
        </button>
      )}
      {mayChange && process !== null && (
        <MaintenanceDialog {...{ app, process, again }} close={() => app.go('maintenance', {}, 'replace')} />
      )}
    </PageHeader>
  )
}

function Content({ app, answer: { maintenance }, nowMs, again }: Shown<Maintenances>) {
  if (maintenance.length === 0)
    return (
      <Empty title="No maintenance">
        <p class="muted">Plan one before you stop something that is watched.</p>
      </Empty>
    )
  return (
    <div class="card card-table">
      <Table caption="Maintenance" columns={columnsOf(app, nowMs, again)} rows={maintenance} />
    </div>
  )
}

const columnsOf = (app: App, nowMs: number, again: () => void): Column<Maintenance>[] => [
  {
    label: 'State',
    class: 'tight',
    cell: (window) => {
      const state = stateOf(window, nowMs)
      return <span class={`badge badge-${state === 'active' ? 'warn' : 'off'}`}>{state}</span>
    },
  },
  {
    label: 'Process',
    cell: ({ process }) => (
      <strong>
        <bdi>{process}</bdi>
      </strong>
    ),
  },
  { label: 'When', cell: (window) => <When window={window} nowMs={nowMs} /> },
  actionColumn(app.may('member'), (window) => (
    <>
      {window.active && <RowAction label="End now" about={window.process} act={() => askForEnd(app, window, again)} />}
      <RowAction label="Edit" about={window.process} act={() => askToEdit(app, window, again)} />
      <RowAction label="Delete" about={window.process} act={() => askForDeletion(app, window, again)} />
    </>
  )),
]

function stateOf({ active, to, repeat }: Maintenance, nowMs: number): string {
  if (active) return 'active'
  if (to !== null && parseTime(to) <= nowMs) return 'over'
  return repeat === null ? 'planned' : 'repeating'
}

function When({ window: { from, to, repeat, until, next_due }, nowMs }: { window: Maintenance; nowMs: number }) {
  const bound = (word: string, at: string | null) =>
    at === null ? '' : `${word} ${formatMoment(parseTime(at), nowMs)}`
  if (repeat === null) return `${bound('', from)} ${bound('until', to)}`.trim()
  const due = describeNextDue(repeat, next_due) ?? ''
  const limits = [bound('from', from), bound('until', to), due].filter((text) => text !== '').join(', ')
  return (
    <>
      <code>{repeat.cron}</code> {repeat.tz ?? 'UTC'}, for {repeat.length}
      <span class="sub">{until === null ? limits : `now until ${formatMoment(parseTime(until), nowMs)}`}</span>
    </>
  )
}

export const openMaintenancePage = openPollPage<Maintenances>({
  className: 'maintenance',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
