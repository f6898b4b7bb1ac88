// Alerts, watches and the channels that they notify.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Alert, AlertPage, Unjudged } from '../../wire/alerts.ts'
import type { Channel, Channels } from '../../wire/channels.ts'
import type { Maintenance, Maintenances } from '../../wire/maintenance.ts'
import type { Watch, Watches } from '../../wire/watches.ts'
import { MaintenanceLine } from '../home/maintenance-line.tsx'
import { getPages, ROWS_MAX } from '../kit/api.ts'
import { explainText } from '../kit/explain.ts'
import { openDialog } from '../kit/modal.tsx'
import type { OpenPage } from '../kit/page.ts'
import { Empty, PageHeader } from '../kit/page-header.tsx'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { AlertTable, UnjudgedList } from './alert-table.tsx'
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
  /** Those that fire first. */
  readonly alerts: readonly Alert[]
  readonly hasOlder: boolean
  readonly unjudged: readonly Unjudged[]
  readonly maintenance: readonly Maintenance[]
  /** Processes of the last 30 days; undefined: not known, or too many. */
  readonly heard: ReadonlySet<string> | undefined
}

async function ask({ app, held, early, signal }: Question<WatchesAnswer>): Promise<WatchesAnswer> {
  const { api } = app
  const [watches, channels, newest, firing, planned] = await Promise.all([
    api.get<Watches>('api/watches', {}, signal),
    api.get<Channels>('api/channels', {}, signal),
    api.get<AlertPage>('api/alerts', { limit: ALERTS_SHOWN }, signal),
    getPages<Alert>(api, 'api/alerts', 'alerts', { state: 'firing' }, signal),
    api.get<Maintenances>('api/maintenance', {}, signal),
  ])
  const alerts = [...new Map([...newest.alerts, ...firing.rows].map((alert) => [alert.id, alert])).values()]
  const answer = {
    ...{ ...watches, ...channels, unjudged: newest.unjudged, hasOlder: newest.next !== null },
    alerts: alerts.toSorted((a, b) => Number(b.state === 'firing') - Number(a.state === 'firing')),
    maintenance: planned.maintenance.filter(({ active }) => active),
  }
  early({ ...answer, heard: held?.heard })
  const entries = await app.askProcesses(signal).catch(() => []) // without it no watch says so
  const isWhole = entries.length > 0 && entries.length < ROWS_MAX
  return { ...answer, heard: isWhole ? new Set(entries.map(({ process }) => process)) : undefined }
}

type HeadingProps = Omit<Shown<WatchesAnswer>, 'answer'> & { answer: WatchesAnswer | undefined }

function Heading({ app, answer, again }: HeadingProps) {
  const { channels = [], watches = [], email: hasEmail } = answer ?? {}
  const createWatch = () => openDialog((close) => <WatchDialog {...{ app, channels, watches, close }} done={again} />)
  const createChannel = () => openDialog((close) => <ChannelDialog {...{ app, hasEmail, close }} done={again} />)
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

function Content({ app, params, nowMs, answer, again }: Shown<WatchesAnswer>) {
  const { watches, channels, alerts, hasOlder, unjudged, maintenance, heard } = answer
  const [fault, setFault] = useState('')
  const chosen = params.get('watch') ?? undefined
  const drawn = params.has('all') ? alerts : alerts.slice(0, DRAWN_MAX)
  useLinks({ app, params, nowMs, answer, again })
  async function act(method: 'POST' | 'PATCH' | 'DELETE', path: string, done: string, body?: object): Promise<void> {
    setFault('')
    try {
      await app.api.send(method, path, body)
      app.announce(done)
    } catch (error) {
      setFault(explainText(error))
    }
    again()
  }
  const isEmpty = [watches, channels, alerts, unjudged].every(({ length }) => length === 0)
  return (
    <div class="stack">
      {fault !== '' && (
        <p class="banner banner-danger" role="alert">
          {fault}
        </p>
      )}
      {maintenance.length > 0 && <MaintenanceLine active={maintenance} nowMs={nowMs} />}
      {unjudged.length > 0 && <UnjudgedList unjudged={unjudged} nowMs={nowMs} />}
      {isEmpty && (
        <Empty title="Nothing is watched">
          <p class="muted">Create a watch: you are notified when a process is late, slow, hangs or fails.</p>
        </Empty>
      )}
      {alerts.length > 0 && (
        <Part title="Alerts">
          <AlertTable
            {...{ nowMs, alerts: drawn, chosenWatch: chosen, mayChange: app.may('member') }}
            act={(method, path, done) => void act(method, path, done)}
          />
          {drawn.length < alerts.length && (
            <a href={formatRoute('watches', changeParams(params, { all: '1' }))}>Show all {alerts.length}</a>
          )}
          {hasOlder && (
            <p class="muted">All that fire are listed, and of the others those among the newest {ALERTS_SHOWN}.</p>
          )}
        </Part>
      )}
      {watches.length > 0 && (
        <Part title="Watches">
          <WatchTable
            {...{ app, watches, channels, heard, chosen, nowMs, again }}
            act={(method, path, done, body) => void act(method, path, done, body)}
          />
        </Part>
      )}
      {channels.length > 0 && (
        <Part title="Channels">
          <ChannelTable
            {...{ app, channels, nowMs, again }}
            act={(method, path, done, body) => void act(method, path, done, body)}
          />
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
function useLinks({ app, params, answer: { watches, channels }, again }: Shown<WatchesAnswer>): void {
  const [chosen, process] = [params.get('watch'), params.get('watch-process')]
  useEffect(() => {
    if (chosen === null) return
    document.querySelector('tr.chosen')?.scrollIntoView({ block: 'center' })
    if (!watches.some(({ id }) => id === chosen)) app.announce('The watch of this link was deleted.')
  }, [chosen])
  useEffect(() => {
    if (process === null || !app.may('member')) return
    openDialog((close) => <WatchDialog {...{ app, process, channels, watches, close }} done={again} />)
    app.go('watches', changeParams(params, { 'watch-process': undefined }), 'replace')
  }, [process])
}

export const openWatchesPage: OpenPage = openPollPage<WatchesAnswer>({
  className: 'watches',
  everyMs: () => EVERY_MS,
  ask,
  Heading,
  Content,
})
