// Alerts, watches and the channels that they notify.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Alert, Unjudged } from '../../wire/alerts.ts'
import type { Channel } from '../../wire/channels.ts'
import type { Maintenance } from '../../wire/maintenance.ts'
import type { Watch } from '../../wire/watches.ts'
import { MaintenanceLine } from '../home/maintenance-line.tsx'
import { getPages, ROWS_MAX } from '../kit/api.ts'
import { explainText } from '../kit/explain.ts'
import { page, type Question } from '../kit/page.tsx'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { useView } from '../kit/view.tsx'
import { type Act, AlertTable, UnjudgedList } from './alert-table.tsx'
import { ChannelDialog } from './channel-dialog.tsx'
import { ChannelTable } from './channel-table.tsx'
import { WatchDialog } from './watch-dialog.tsx'
import { WatchTable } from './watch-table.tsx'

const EVERY_MS = 10_000
const ALERTS_SHOWN = 50
/** A browser needs 13 s for 10,000 rows. */
const DRAWN_MAX = 300

interface WatchesAnswer {
  readonly watches: readonly Watch[]
  readonly channels: readonly Channel[]
  /** Whether e-mail is set up. */
  readonly email: boolean
  /** Firing alerts come first. */
  readonly alerts: readonly Alert[]
  readonly hasOlder: boolean
  readonly unjudged: readonly Unjudged[]
  readonly maintenance: readonly Maintenance[]
  /** Processes of the last 30 days; undefined: not known, or too many. */
  readonly heard: ReadonlySet<string> | undefined
}

async function ask({ app, get, held, early, signal }: Question<WatchesAnswer>): Promise<WatchesAnswer> {
  const [watches, channels, newest, firing, planned] = await Promise.all([
    get('api/watches'),
    get('api/channels'),
    get('api/alerts', { limit: ALERTS_SHOWN }),
    getPages(async (page) => {
      const { alerts: rows, next } = await get('api/alerts', { state: 'firing', ...page })
      return { rows, next }
    }),
    get('api/maintenance'),
  ])
  const alerts = [...new Map([...newest.alerts, ...firing.rows].map((alert) => [alert.id, alert])).values()]
  const answer = {
    ...watches,
    ...channels,
    unjudged: newest.unjudged,
    hasOlder: newest.next !== null,
    alerts: alerts.toSorted((a, b) => Number(b.state === 'firing') - Number(a.state === 'firing')),
    maintenance: planned.maintenance.filter(({ active }) => active),
  }
  early({ ...answer, heard: held?.heard })
  const entries = await app.askProcesses(signal).catch(() => []) // without it no watch says so
  const isWhole = entries.length > 0 && entries.length < ROWS_MAX
  return { ...answer, heard: isWhole ? new Set(entries.map(({ process }) => process)) : undefined }
}

function Heading({ answer }: { answer: WatchesAnswer | undefined }) {
  const { app, again, open } = useView()
  const { channels = [], watches = [], email: hasEmail } = answer ?? {}
  const createWatch = () => open((close) => <WatchDialog {...{ channels, watches, close }} done={again} />)
  const createChannel = () => open((close) => <ChannelDialog {...{ hasEmail, close }} done={again} />)
  return (
    <PageHeader title="Alerts & watches">
      <a class="button" href={formatRoute('maintenance')}>
        Maintenance
      </a>
      {app.may('member') && (
        <>
          <button type="button" class="button" onClick={createChannel}>
            Create channel
          </button>
          <button
            type="button"
            class="button button-main"
            style={{ visibility: answer === undefined ? 'hidden' : 'visible' }}
            onClick={createWatch}
          >
            Create watch
          </button>
        </>
      )}
    </PageHeader>
  )
}

function Content({ answer }: { answer: WatchesAnswer }) {
  const { app, params, again } = useView()
  const { watches, channels, alerts, hasOlder, unjudged, maintenance, heard } = answer
  const [fault, setFault] = useState('')
  const chosen = params.get('watch') ?? undefined
  const drawn = params.has('all') ? alerts : alerts.slice(0, DRAWN_MAX)
  useLinks(answer)
  const act: Act = (work, done) => {
    setFault('')
    void work()
      .then(
        () => app.announce(done),
        (error) => setFault(explainText(error)),
      )
      .then(again)
  }
  const isEmpty = [watches, channels, alerts, unjudged].every(({ length }) => length === 0)
  return (
    <div class="stack">
      {fault !== '' && (
        <p class="banner banner-danger" role="alert">
          {fault}
        </p>
      )}
      <MaintenanceLine active={maintenance} />
      {unjudged.length > 0 && <UnjudgedList unjudged={unjudged} />}
      {isEmpty && (
        <Empty title="Nothing is watched">
          <p class="muted">Create a watch: you are notified when a process is late, slow, hangs or fails.</p>
        </Empty>
      )}
      {alerts.length > 0 && (
        <Part title="Alerts">
          <AlertTable {...{ alerts: drawn, chosenWatch: chosen, act }} />
          {drawn.length < alerts.length && (
            <a href={formatRoute('watches', changeParams(params, { all: '1' }))}>Show all {alerts.length}</a>
          )}
          {hasOlder && <p class="muted">Shows all firing alerts and the newest {ALERTS_SHOWN} resolved ones.</p>}
        </Part>
      )}
      {watches.length > 0 && (
        <Part title="Watches">
          <WatchTable {...{ watches, channels, heard, chosen, act }} />
        </Part>
      )}
      {channels.length > 0 && (
        <Part title="Channels">
          <ChannelTable {...{ channels, act }} />
        </Part>
      )}
    </div>
  )
}

const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    <div class="card card-table">{children}</div>
  </section>
)

/** Shows the watch that a notification links to, and opens the form for the process of a link. */
function useLinks({ watches, channels }: WatchesAnswer): void {
  const { app, params, change, again, open } = useView()
  const [chosen, process] = [params.get('watch'), params.get('watch-process')]
  useEffect(() => {
    if (chosen === null) return
    document.querySelector('tr.chosen')?.scrollIntoView({ block: 'center' })
    if (!watches.some(({ id }) => id === chosen)) app.announce('The watch of this link was deleted.')
  }, [chosen])
  useEffect(() => {
    if (process === null || !app.may('member')) return
    open((close) => <WatchDialog {...{ process, channels, watches, close }} done={again} />)
    change({ 'watch-process': undefined }, 'replace')
  }, [process])
}

export const WatchesPage = page<WatchesAnswer>({
  name: 'watches',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
