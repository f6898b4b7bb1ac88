// The steps of the Welcome page that end in a notification: one watch of every process that notifies all channels, and
// a run that fails or completes, sent as a caller would.
import type { Alert } from '../../wire/alerts.ts'
import type { Channel } from '../../wire/channels.ts'
import type { CreateWatch, Watch } from '../../wire/watches.ts'
import type { App } from '../kit/app.ts'
import type { Get } from '../kit/ask.ts'
import { reportsFailures } from '../watch/sentences.ts'

export const PROCESS = 'first steps'
/** The server's clock is known to the second. */
export const CLOCK_MS = 2_000

export interface Watching {
  readonly channels: readonly Channel[]
  /** Whether e-mail is set up. */
  readonly hasEmail: boolean
  readonly watches: readonly Watch[]
  readonly alerts: readonly Alert[]
}

export interface SentRun {
  readonly atMs: number
  readonly hasFailed: boolean
}

export async function askWatching(get: Get): Promise<Watching> {
  const [{ channels, email }, { watches }, { alerts }] = await Promise.all([
    get('api/channels'),
    get('api/watches'),
    get('api/alerts', { limit: 20 }),
  ])
  return { channels, hasEmail: email, watches, alerts }
}

const isOurs = ({ name, process }: Watch): boolean => name === 'Every failure' && process === '*'
export const covers = (watch: Watch): boolean => reportsFailures(watch, PROCESS)

export async function watchAllFailures({ api }: App): Promise<void> {
  const [{ channels }, { watches }] = await Promise.all([api.get('api/channels'), api.get('api/watches')])
  const ids = channels.map(({ id }) => id)
  const own = watches.find(isOurs)
  if (own !== undefined) return void (await api.send('PATCH', `api/watches/${own.id}`, { channels: ids }))
  if (watches.some(covers)) return
  const failed = { after: 1, exceptions: true }
  const body: CreateWatch = { name: 'Every failure', process: '*', failed, channels: ids }
  await api.send('POST', 'api/watches', body)
}

/** With the key `secret`, otherwise with one that lasts as long as the request. */
export async function sendRun(app: App, hasFailed: boolean, secret: string | undefined): Promise<SentRun> {
  const { api } = app
  const atMs = app.nowMs() - CLOCK_MS
  // A watch that fires already would not fire again.
  const { alerts } = await api.get('api/alerts', { state: 'firing' })
  const firing = hasFailed ? alerts.filter(({ process }) => process === PROCESS) : []
  for (const { id } of firing) await api.send('POST', `api/alerts/${id}/resolve`)
  const mark = { process: PROCESS, uid: `test-${Math.round(atMs).toString(36)}` }
  const events = [
    { kind: 'start', ...mark },
    ...(hasFailed ? [{ kind: 'exception', ...mark, exception: 'Error: a test of the notifications' }] : []),
    { kind: 'end', ...mark, failed: hasFailed },
  ]
  const made = secret === undefined ? await api.send('POST', 'api/keys', { name: 'test run' }) : undefined
  try {
    await app.sendEvents(secret ?? made?.key.secret ?? '', events)
  } finally {
    if (made !== undefined) await api.send('DELETE', `api/keys/${made.key.id}`)
  }
  return { atMs, hasFailed }
}
