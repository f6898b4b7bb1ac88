// Windows in which notifications are held back, once or repeating; watches are still checked. `?process=` in the
// address plans one.
import type { Maintenance, Maintenances } from '../../wire/maintenance.ts'
import { ACTION_TEXT, describeNextDue } from '../../wire/words.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { page } from '../kit/page.tsx'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { actionColumn, type Column, RowAction, Table } from '../kit/table.tsx'
import { useView } from '../kit/view.tsx'
import { askForDeletion, askForEnd, askToEdit, MaintenanceDialog } from './maintenance-dialogs.tsx'

const EVERY_MS = 10_000

export const MaintenancePage = page<Maintenances>({
  name: 'maintenance',
  everyMs: () => EVERY_MS,
  ask: ({ get }) => get('api/maintenance'),
  Heading,
  Content,
})

function Heading() {
  const { app, params, change } = useView()
  const process = params.get('process')
  const mayChange = app.may('member')
  return (
    <PageHeader title="Maintenance" lead="Notifications are held back in these windows; watches are still checked.">
      {mayChange && (
        <button type="button" class="button button-main" onClick={() => change({ process: '' }, 'replace')}>
          {ACTION_TEXT.maintenance}
        </button>
      )}
      {mayChange && process !== null && (
        <MaintenanceDialog process={process} close={() => change({ process: undefined }, 'replace')} />
      )}
    </PageHeader>
  )
}

function Content({ answer: { maintenance } }: { answer: Maintenances }) {
  if (maintenance.length === 0)
    return (
      <Empty title="No maintenance">
        <p class="muted">Plan maintenance to silence notifications while you work.</p>
      </Empty>
    )
  return (
    <div class="card card-table">
      <Table caption="Maintenance" columns={COLUMNS} rows={maintenance} />
    </div>
  )
}

const COLUMNS: readonly Column<Maintenance>[] = [
  {
    label: 'State',
    class: 'tight',
    cell: (window, { nowMs }) => {
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
  { label: 'When', cell: (window) => <When window={window} /> },
  actionColumn(
    (window, view) => (
      <>
        {window.active && <RowAction label="End now" about={window.process} act={() => askForEnd(view, window)} />}
        <RowAction label="Edit" about={window.process} act={() => askToEdit(view, window)} />
        <RowAction label="Delete" about={window.process} act={() => askForDeletion(view, window)} />
      </>
    ),
    'member',
  ),
]

function stateOf({ active, to, repeat }: Maintenance, nowMs: number): string {
  if (active) return 'active'
  if (to !== null && parseTime(to) <= nowMs) return 'over'
  return repeat === null ? 'planned' : 'repeating'
}

function When({ window: { from, to, repeat, until, next_due } }: { window: Maintenance }) {
  const { nowMs } = useView()
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
