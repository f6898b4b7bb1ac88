// Writes released/VERSION.tar.xz, a DATA_DIR as that version leaves it when it is killed, and VERSION.json with what is in it. Once per version:
// `bun test/faults/write-released.ts CLONE`, with a clone of the released commit whose dependencies are installed.
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { createCaller, PASSWORD, signUpAt } from '../support/caller.ts'
import { figure, WITHIN_MS } from '../support/fault-trial.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Released } from '../support/released.ts'
import { until } from '../support/until.ts'

const clone = resolve(process.argv[2]!)
const { version } = await Bun.file(join(clone, 'package.json')).json()
const receiver = startReceiver()
const settings = { SIGNUP: 'open', NOTIFY_PRIVATE: 'true' }
const stint = createStintProcess(settings, { entry: join(clone, 'src/main.ts') })
await stint.start()
const [ada, bob] = [await signUpAt(stint.url, 'ada@example.com'), await signUpAt(stint.url, 'bob@example.com')]

async function make<T>(path: string, body: object, member: string): Promise<T> {
  const { status, text, json } = await ada.bySession.post(path, body)
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
  return json[member]
}
type Key = { id: string; secret: string }
const manager = await make<Key>('/api/keys', { name: 'manager', scopes: ['read', 'manage'] }, 'key')
const revoked = await make<Key>('/api/keys', { name: 'revoked' }, 'key')
await ada.bySession.delete(`/api/keys/${revoked.id}`)
const channel = await make<{ id: string }>(
  '/api/channels',
  { name: 'on call', kind: 'webhook', url: receiver.url },
  'channel',
)
const watch = await make<{ id: string }>(
  '/api/watches',
  { name: 'imports', process: 'import', failed: {}, channels: [channel.id] },
  'watch',
)

const sent: { path: string; body: object; at: string }[] = []
async function send(path: string, body: object, caller = ada.byKey): Promise<void> {
  const { status, text, json } = await caller.post(`/v1/${path}`, body)
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
  if (caller === ada.byKey) sent.push({ path, body, at: json.at })
}
await send('start', { process: 'import', meta: 'ü', uid: 'good' })
await send('metrics', { process: 'import', items: { rows: 0.1, 'läng e': -3 } })
await send('end', { process: 'import', meta: 'ü', uid: 'good' })
await send('start', { process: 'import', uid: 'bad' })
await send('exception', { process: 'import', exception: 'boom\n\t"at" \\ 😀' })
await send('end', { process: 'import', uid: 'bad', failed: true })
await send('metrics', { process: 'of bob', items: { rows: 1 } }, bob.byKey)
await untilShipped(stint.url, WITHIN_MS)
type Alert = { id: string; state: string }
const findAlerts = async (): Promise<Alert[]> =>
  (await createCaller(stint.url, { key: manager.secret }).get('/api/alerts')).json.alerts
await until('the alert was notified', () => receiver.requests.length > 0)
const [alert] = await findAlerts()

await send('start', { process: 'import', uid: 'spooled' })
await send('metrics', { process: 'import', items: { rows: 7 } })
await send('exception', { process: 'import', exception: 'spooled' })
const spooled = await figure(stint, 'stint_spool_records')
await stint.kill() // within the half second for which the shipper collects
if (spooled !== 3) throw new Error(`${spooled} events were in the spools; run this again`)

const facts: Released = {
  commit: Bun.spawnSync(['git', '-C', clone, 'rev-parse', 'HEAD']).stdout.toString().trim(),
  wallUs: systemClock.wallUs(),
  password: PASSWORD,
  ada: { email: 'ada@example.com', account: ada.account, secret: ada.secret, cookie: ada.cookie },
  bob: { email: 'bob@example.com', account: bob.account, secret: bob.secret, cookie: bob.cookie },
  manager,
  revoked,
  channel: channel.id,
  watch: watch.id,
  alert: alert!.id,
  sent,
}
const released = join(import.meta.dir, 'released')
for (const file of ['lock', 'lock.pid']) rmSync(join(stint.dataDir, file), { force: true })
const tar = ['tar', '--numeric-owner', '--owner=0', '--group=0', '-C', stint.dataDir, '-cJf']
const packed = Bun.spawnSync([...tar, join(released, `${version}.tar.xz`), '.'], {
  env: { ...process.env, XZ_OPT: '-9e' },
})
if (!packed.success) throw new Error(packed.stderr.toString())
writeFileSync(join(released, `${version}.json`), `${JSON.stringify(facts, null, 2)}\n`)
await stint.close()
await receiver.close()
process.exit()
