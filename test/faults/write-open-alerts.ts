// Writes released/open-alerts.tar.xz, a DATA_DIR of version 1.1 that was killed while alerts of all conditions fired, and open-alerts.json with what
// is in it. Once: `bun test/faults/write-open-alerts.ts CLONE`, with a clone of the released commit whose dependencies are installed.
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { signUpAt } from '../support/caller.ts'
import { WITHIN_MS } from '../support/fault-trial.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { RELEASED } from '../support/released.ts'
import { until } from '../support/until.ts'

const SPEED = 8
const clone = resolve(process.argv[2]!)
const receiver = startReceiver()
const fromMs = Date.now()
const nowMs = () => fromMs + (Date.now() - fromMs) * SPEED
const clock = { CLOCK_SPEED: `${SPEED}`, CLOCK_FROM_MS: `${fromMs}`, UV_THREADPOOL_SIZE: '8' }
const stint = createStintProcess(
  { SIGNUP: 'open', NOTIFY_PRIVATE: 'true', ...clock },
  { entry: join(clone, 'test/support/quick-clock.ts') },
)
await stint.start()
const ada = await signUpAt(stint.url)
const hook = await ada.bySession.post('/api/channels', { name: 'on call', kind: 'webhook', url: receiver.url })
const watch = async (process: string, conditions: object) => {
  const body = { name: process, process, channels: [hook.json.channel.id], ...conditions }
  const { status, text, json } = await ada.bySession.post('/api/watches', body)
  if (status !== 201) throw new Error(text)
  return json.watch.id as string
}
const send = async (kind: string, body: object) => {
  const { status, text } = await ada.byKey.post(`/v1/${kind}`, body)
  if (status !== 201) throw new Error(text)
}

const CONDITIONS = {
  late: { every: '60s', grace: '10s' },
  long: '30s',
  failed: {},
  metric: { name: 'rows', window: '10m', of: 'last', above: 10 },
  slow: 3,
}
for (const [name, condition] of Object.entries(CONDITIONS)) await watch(name, { [name]: condition })
await watch('acknowledged', { failed: {} })
const paused = await watch('paused', { failed: {} })

await send('start', { process: 'late' })
await send('end', { process: 'late' })
await send('start', { process: 'long', uid: 'hangs' })
for (const process of ['failed', 'acknowledged', 'paused']) {
  await send('start', { process, uid: 'bad' })
  await send('end', { process, uid: 'bad', failed: true })
}
await send('metrics', { process: 'metric', items: { rows: 11 } })
for (let i = 0; i < 6; i++) {
  await send('start', { process: 'slow', uid: `${i}` })
  await send('end', { process: 'slow', uid: `${i}` })
}
await untilShipped(stint.url, WITHIN_MS)
await send('start', { process: 'slow', uid: 'slow' })
const slowMs = nowMs()
await until('the run is slow', () => nowMs() - slowMs > 20_000, WITHIN_MS)
await send('end', { process: 'slow', uid: 'slow' })

const firing = async (): Promise<{ id: string; process: string }[]> =>
  (await ada.bySession.get('/api/alerts?state=firing')).json.alerts
await until('all fire', async () => (await firing()).length === 7, WITHIN_MS)
await until('all are notified', () => receiver.requests.length === 7, WITHIN_MS)
const alerts = Object.fromEntries((await firing()).map(({ id, process }) => [process, id]))
const acked = await ada.bySession.post(`/api/alerts/${alerts.acknowledged}/ack`, {})
if (acked.status !== 200) throw new Error(acked.text)
await ada.bySession.patch(`/api/watches/${paused}`, { paused_until: new Date(nowMs() + 86_400_000).toISOString() })
const notedMs = nowMs()
await until('how far it was judged is noted', () => nowMs() - notedMs > 30_000, WITHIN_MS)
await untilShipped(stint.url, WITHIN_MS)
await stint.kill()

const facts = { wallUs: nowMs() * 1000, account: ada.account, cookie: ada.cookie, secret: ada.secret, alerts }
for (const file of ['lock', 'lock.pid']) rmSync(join(stint.dataDir, file), { force: true })
const tar = ['tar', '--numeric-owner', '--owner=0', '--group=0', '-C', stint.dataDir, '-cJf']
const packed = Bun.spawnSync([...tar, join(RELEASED, 'open-alerts.tar.xz'), '.'], {
  env: { ...process.env, XZ_OPT: '-9e' },
})
if (!packed.success) throw new Error(packed.stderr.toString())
writeFileSync(join(RELEASED, 'open-alerts.json'), `${JSON.stringify(facts, null, 2)}\n`)
await stint.close()
await receiver.close()
process.exit()
