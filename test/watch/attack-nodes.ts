// `bun test/watch/attack-nodes.ts [ATTACK …]`: two real nodes on one PostgreSQL, one of them of 2.0 in some rows, or one
// node alone, their stores away, while one is killed, suspended, slowed down, cut off or has another clock, or the database
// goes back, around moments at which alerts are due. Prints a row for each attack: alerts that are false, missed or
// doubled, and by how many seconds the latest was late. Takes two minutes each.
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createCaller, type SignedUp, signUpAt } from '../support/caller.ts'
import { injectFault, segmentsOf } from '../support/fault-trial.ts'
import { takePort } from '../support/ports.ts'
import { startPostgres } from '../support/postgres.ts'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { createClockedProcess } from '../support/quick-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkOut, readReleased } from '../support/released.ts'

/** When something is due, in seconds from the beginning of the attack. */
const OFFSETS = [-12, -6, -2, 0, 2, 6, 12, 25]
const HEALTHY = 4
const LEAD_MS = 45_000
/**
 * What waits for a silent node is judged one interval and grace after its return; the downtime of a node alone lasts
 * 30 s longer.
 */
const [AFTER_MS, AFTER_ALONE_MS] = [50_000, 75_000]

interface Event {
  readonly atMs: number
  readonly kind: 'start' | 'end'
  readonly body: { readonly process: string; readonly uid?: string; readonly failed?: boolean }
}

interface Expected {
  readonly process: string
  readonly condition: string
  readonly dueMs: number
}

const postgres = await startPostgres()
const databaseUrl = await postgres.createDatabase()
const link = startLink(Number(new URL(databaseUrl).port))
const linkedUrl = databaseUrl.replace(/:\d+\//, `:${link.port}/`)
const settings = { ...STORES_AWAY, NOTIFY_PRIVATE: 'true', LOG_LEVEL: 'warn' }
const judging = createStintProcess({ ...settings, DATABASE_URL: databaseUrl, NODE_ID: '1' })
const clock = { stepUs: 0, passUs: 0 }
const feeding = createClockedProcess(clock, { ...settings, DATABASE_URL: linkedUrl, NODE_ID: '2' })
const alone = createStintProcess(settings)
const chosen = process.argv.slice(2)
/** A node of 2.0, which this clone's history has, and one of this version, on a database that 2.0 made. */
const besideUrl = await postgres.createDatabase()
const isBeside = chosen.length === 0 || chosen.some((name) => name.startsWith('beside'))
const released = isBeside ? checkOut(readReleased('2.0.0').commit) : undefined
const former = createStintProcess(
  { ...settings, DATABASE_URL: besideUrl, NODE_ID: '1' },
  { entry: join(released ?? '', 'src/main.ts') },
)
const beside = createStintProcess({ ...settings, DATABASE_URL: besideUrl, NODE_ID: '2' })
const receiver = startReceiver()
const arrivedMs: number[] = []
receiver.answer = () => {
  arrivedMs.push(Date.now())
  return new Response()
}

type Node = Pick<typeof judging, 'url' | 'pid' | 'kill' | 'start' | 'dataDir'>

const WRITE_TAKES_US = 3e6
/** What became due so long before a restore may be notified again: Operations says so. */
const BACKUP_AGE_MS = 15_000

async function suspend(node: Node, ms: number): Promise<void> {
  const pid = node.pid()
  process.kill(pid, 'SIGSTOP')
  await Bun.sleep(ms)
  process.kill(pid, 'SIGCONT')
}
async function killFor(node: Node, ms: number): Promise<void> {
  await node.kill()
  await Bun.sleep(ms)
  await node.start()
}
/** Each write to its spools takes three seconds. */
async function slow(node: Node, ms: number): Promise<void> {
  const fault = await injectFault(node.pid(), [`pwrite64:delay_enter=${WRITE_TAKES_US}`], segmentsOf(node))
  await Bun.sleep(ms)
  await fault.stop()
}
async function shift(seconds: number): Promise<void> {
  feeding.setClock({ stepUs: seconds * 1e6, passUs: 0 })
  await Bun.sleep(60_000)
}

/** Of two nodes; each resolves when everything is well again. */
const ATTACKS: Readonly<Record<string, () => Promise<void>>> = {
  none: () => Bun.sleep(30_000),
  'feeding node killed for 3 s': () => killFor(feeding, 3_000),
  'feeding node killed for 30 s': () => killFor(feeding, 30_000),
  'feeding node killed, then the judging one': async () => {
    await feeding.kill()
    await Bun.sleep(20_000)
    await judging.kill()
    await feeding.start()
    await Bun.sleep(3_000)
    await judging.start()
  },
  'feeding node suspended for 60 s': () => suspend(feeding, 60_000),
  'judging node suspended for 60 s': () => suspend(judging, 60_000),
  'feeding node lags: 4 of 5 s suspended': async () => {
    for (let i = 0; i < 10; i++) {
      await suspend(feeding, 4_000)
      await Bun.sleep(1_000)
    }
  },
  'feeding node cut off from PostgreSQL for 40 s': async () => {
    link.cut(true)
    await Bun.sleep(40_000)
    link.cut(false)
  },
  'PostgreSQL away for 60 s': async () => {
    await postgres.stop()
    await Bun.sleep(60_000)
    await postgres.start()
  },
  'clock of the feeding node 3 s ahead': () => shift(3),
  'clock of the feeding node 3 s behind': () => shift(-3),
  'judging node killed for 3 s': () => killFor(judging, 3_000),
  'feeding node writes slowly for 30 s': () => slow(feeding, 30_000),
  'judging node writes slowly for 30 s': () => slow(judging, 30_000),
  'both nodes write slowly for 30 s': async () => {
    await Promise.all([slow(feeding, 30_000), slow(judging, 30_000)])
  },
  'PostgreSQL restored from 15 s ago': async () => {
    await postgres.backUp()
    await Bun.sleep(BACKUP_AGE_MS)
    await postgres.restore()
  },
}
const ATTACKS_ALONE: typeof ATTACKS = {
  'one node': () => Bun.sleep(30_000),
  'one node killed for 3 s': () => killFor(alone, 3_000),
  'one node killed for 30 s': () => killFor(alone, 30_000),
  'one node suspended for 20 s': () => suspend(alone, 20_000),
  'one node writes slowly for 30 s': () => slow(alone, 30_000),
}

/** Forwards to PostgreSQL until it is cut. */
function startLink(to: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(to, '127.0.0.1')
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  const port = takePort()
  server.listen(port, '127.0.0.1')
  return {
    port,
    cut(next: boolean): void {
      isCut = next
      if (isCut) for (const socket of sockets) socket.destroy()
    },
    close: () => server.close(),
  }
}

/** What is sent around `attackMs`, and what must fire. */
function plan(name: string, attackMs: number, endMs: number) {
  const events: Event[] = []
  const expected: Expected[] = []
  const add = (kind: Event['kind'], atMs: number, body: Event['body']) => events.push({ kind, atMs, body })
  for (const offset of OFFSETS) {
    const dueMs = attackMs + offset * 1000
    const named = (kind: string) => `${name}: ${kind} ${offset}`
    for (let atMs = dueMs - 25_000; atMs > attackMs - LEAD_MS + 3_000; atMs -= 12_000)
      add('start', atMs, { process: named('dead') })
    add('start', dueMs - 15_000, { process: named('hangs'), uid: 'h' })
    add('start', dueMs - 1_000, { process: named('fails'), uid: 'f' })
    add('end', dueMs, { process: named('fails'), uid: 'f', failed: true })
    expected.push({ process: named('dead'), condition: 'late', dueMs })
    expected.push({ process: named('hangs'), condition: 'long', dueMs })
    expected.push({ process: named('fails'), condition: 'failed', dueMs })
  }
  for (let i = 0; i < HEALTHY; i++)
    for (let atMs = attackMs - LEAD_MS + 5_000 + i * 2_000, uid = 0; atMs < endMs; atMs += 8_000, uid++) {
      add('start', atMs, { process: `${name}: well ${i}`, uid: String(uid) })
      add('end', atMs + 2_000, { process: `${name}: well ${i}`, uid: String(uid) })
    }
  return { events, expected }
}

const CONDITIONS = {
  dead: { late: { every: '20s', grace: '5s' } },
  hangs: { long: '15s' },
  fails: { failed: {} },
  well: { late: { every: '20s', grace: '10s' }, long: '15s', failed: {} },
}

const ATTACKS_BESIDE: typeof ATTACKS = {
  'beside 2.0': () => Bun.sleep(30_000),
  'beside 2.0, which is killed for 30 s': () => killFor(former, 30_000),
  'beside 2.0, the node of this version is killed for 30 s': () => killFor(beside, 30_000),
}

const choose = (from: typeof ATTACKS) =>
  Object.entries(from).filter(([name]) => chosen.length === 0 || chosen.includes(name))
const [together, single, mixed] = [choose(ATTACKS), choose(ATTACKS_ALONE), choose(ATTACKS_BESIDE)]
try {
  if (together.length > 0) {
    await judging.start()
    await Bun.sleep(3_000)
    await feeding.start()
    await runAll(together, [judging, feeding])
  }
  if (single.length > 0) {
    await alone.start()
    await runAll(single, [alone])
  }
  if (mixed.length > 0 && released !== undefined) {
    await former.start()
    await beside.start()
    await runAll(mixed, [former, beside])
  }
} finally {
  await Promise.all([judging.close(), feeding.close(), alone.close(), former.close(), beside.close(), receiver.close()])
  link.close()
  await postgres.close()
}

async function runAll(attacks: readonly (readonly [string, () => Promise<void>])[], nodes: readonly Node[]) {
  const person = await signUpAt(nodes[0]!.url)
  const hook = { name: 'hook', kind: 'webhook', url: receiver.url }
  const channel = (await person.bySession.post('/api/channels', hook)).json.channel.id as string
  for (const [name, attack] of attacks) await run(name, attack, nodes, person, channel)
}

async function run(
  name: string,
  attack: () => Promise<void>,
  nodes: readonly Node[],
  { secret, bySession }: SignedUp,
  channel: string,
): Promise<void> {
  const attackMs = Date.now() + LEAD_MS
  const { expected } = plan(name, attackMs, 0)
  const names = [
    ...expected.map((it) => it.process),
    ...Array.from({ length: HEALTHY }, (_, i) => `${name}: well ${i}`),
  ]
  for (const process of names) {
    const kind = process.slice(name.length + 2).split(' ')[0] as keyof typeof CONDITIONS
    const made = await bySession.post('/api/watches', {
      name: process,
      process,
      channels: [channel],
      ...CONDITIONS[kind],
    })
    if (made.status !== 201) throw new Error(made.text)
  }
  const callers = nodes.map(({ url }) => createCaller(url, { key: secret }))
  let isOver = false
  /** As behind a load balancer: a request that is not answered is sent to the next node, with its own time. */
  async function send({ kind, atMs, body }: Event, turn: number): Promise<void> {
    for (let i = turn; !isOver; i++) {
      const asked = callers[i % callers.length]!.post(`/v1/${kind}`, { ...body, at: new Date(atMs).toISOString() })
      const sent = await Promise.race([asked.catch(() => undefined), Bun.sleep(1_000)])
      if (sent?.status === 201) return
      await Bun.sleep(50)
    }
  }
  const { events } = plan(name, attackMs, attackMs + 120_000)
  // each at its time, also while the one before it has no answer yet: a job does not wait for Stint
  const sending = events.map(async (event, i) => {
    while (!isOver && Date.now() < event.atMs) await Bun.sleep(Math.min(1_000, event.atMs - Date.now()))
    if (!isOver) await send(event, i)
  })
  await Bun.sleep(attackMs - Date.now())
  await attack()
  await Bun.sleep(nodes.length > 1 ? AFTER_MS : AFTER_ALONE_MS)
  print(name, expected)
  isOver = true
  await Promise.all(sending)
  if (nodes.includes(feeding)) {
    feeding.setClock(clock)
    await feeding.terminate() // the first node judges again, if it did not
    await feeding.start()
  }
  for (const { id } of (await bySession.get('/api/watches')).json.watches) await bySession.delete(`/api/watches/${id}`)
}

function print(name: string, expected: readonly Expected[]): void {
  const got = receiver.requests.flatMap(({ text, headers }, i) => {
    const { type, data } = JSON.parse(text)
    const { process, condition, id: alert } = data
    return process.startsWith(`${name}: `)
      ? [{ type, process, condition, alert, id: headers.get('webhook-id'), atMs: arrivedMs[i]! }]
      : []
  })
  const isExpected = (it: { type: string; process: string; condition: string }) =>
    it.type === 'alert.firing' && expected.some((one) => one.process === it.process && one.condition === it.condition)
  const wrong = got.filter((it) => !isExpected(it))
  const missed = expected.filter((it) => !got.some(({ process }) => process === it.process))
  const ids = (process: string) => new Set(got.filter((it) => it.process === process).map(({ id }) => id)).size
  const doubled = expected.filter(({ process }) => ids(process) > 1)
  const again = got.length - new Set(got.map(({ id }) => id)).size
  const late = ['failed', 'long', 'late'].map((condition) => {
    const delays = expected
      .filter((it) => it.condition === condition)
      .map(({ process, dueMs }) =>
        Math.max(0, ...got.filter((it) => it.process === process).map((it) => it.atMs - dueMs)),
      )
    return `${condition} ${(Math.max(...delays) / 1000).toFixed(1)}`
  })
  const figures = `false ${wrong.length}, missed ${missed.length}, doubled ${doubled.length}, sent again ${again}`
  console.log(`${name}: ${figures}; latest (s): ${late.join(', ')}`)
  for (const it of wrong) console.log('  false:', it.type, it.process, it.condition)
  for (const it of missed) console.log('  missed:', it.process)
  for (const it of doubled) console.log('  doubled:', it.process)
}
