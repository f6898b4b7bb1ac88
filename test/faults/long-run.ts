// `bun run test:faults --minutes N --seed S`: rounds of load under faults drawn by the seed, until the time is up. A round is an account of its
// own on a Stint that lives on from round to round, embedded and in front of real stores by turns; it ends when all is healed, shipped and
// held against the oracle. At the end every account is read once more and must be as it was. Exits with 1 on any finding, and when nothing much happened.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { between, type Chance, createChance } from '../support/fault-chance.ts'
import { type FaultStores, startFaultStores } from '../support/fault-stores.ts'
import { figure, injectFault, isKnown, manyOf, rotateKey, startLoad, until } from '../support/fault-trial.ts'
import { missing } from '../support/needs.ts'
import {
  createOracle,
  type Findings,
  type Oracle,
  POISON_PROCESS,
  readStored,
  untilShipped,
} from '../support/oracle.ts'
import { type Caller, createStintProcess, type StintProcess } from '../support/process.ts'
import { measureFigures } from './long-figures.ts'

const CLIENTS = 8
const READY_WITHIN_MS = 5_000
const SHIPPED_WITHIN_MS = 120_000
const READ_AGAIN_FROM = '-12h'
/** Small, so that segments change every few seconds. */
const SETTINGS = { SIGNUP: 'open', SPOOL_MAX_BYTES: '16MiB', SERIES_MAX: '0' }

const tally = {
  rounds: 0,
  sent: 0,
  acknowledged: 0,
  unanswered: 0,
  refused: 0,
  delivered: 0,
  dead: 0,
  faults: {} as Record<string, number>,
  kills: 0,
  killsUnderLoad: 0,
  killsInStart: 0,
  batchesSentTwice: 0,
  answersLost: 0,
  slowestReadyMs: 0,
  lost: 0,
  twice: 0,
  foreign: 0,
  altered: 0,
  keysLost: 0,
}
const examples: string[] = []

function count(fault: string): void {
  tally.faults[fault] = (tally.faults[fault] ?? 0) + 1
}

function note(where: string, findings: Findings): void {
  for (const kind of ['lost', 'twice', 'foreign', 'altered'] as const) tally[kind] += findings[kind]
  for (const example of findings.examples) examples.push(`${where}: ${example}`)
}

const say = (text: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`)

interface Rig {
  readonly name: string
  readonly stint: StintProcess
  readonly stores: FaultStores | undefined
  readonly accounts: { readonly caller: Caller; readonly oracle: Oracle; readonly round: number }[]
}

interface Round {
  readonly rig: Rig
  readonly email: string
  readonly caller: Caller
  readonly oracle: Oracle
  readonly chance: Chance
}

async function restart(stint: StintProcess): Promise<void> {
  const readyMs = await stint.start()
  tally.slowestReadyMs = Math.max(tally.slowestReadyMs, readyMs)
  if (readyMs > READY_WITHIN_MS) say(`ready only after ${Math.round(readyMs)} ms`)
}

async function underLoad({ oracle, chance }: Round): Promise<void> {
  const enough = oracle.acknowledged() + between(chance, 5, 150)
  await until('load', () => oracle.acknowledged() >= enough)
  await Bun.sleep(between(chance, 0, 350))
}

async function killAndRestart(round: Round): Promise<void> {
  const before = round.oracle.unanswered()
  await round.rig.stint.kill()
  tally.kills++
  await restart(round.rig.stint)
  if (round.oracle.unanswered() > before) tally.killsUnderLoad++
}

async function killInStart({ rig, chance }: Round): Promise<void> {
  await rig.stint.kill()
  tally.kills++
  for (let times = between(chance, 1, 3); times > 0; times--) {
    await rig.stint.launch()
    await Bun.sleep(between(chance, 0, 900))
    await rig.stint.kill()
    tally.kills++
    tally.killsInStart++
  }
  await restart(rig.stint)
}

async function killInRotation(round: Round): Promise<void> {
  const { rig, email, chance } = round
  const { stint } = rig
  const { keyId } = await stint.signUp(`${email}.rotated`)
  const rotating = rotateKey(stint, `${email}.rotated`, keyId)
  await Bun.sleep(between(chance, 0, 400))
  await killAndRestart(round)
  const { secret } = await rotating
  if (secret === undefined || (await isKnown(stint, secret))) return
  tally.keysLost++
  examples.push('a key that was answered is unknown after the kill')
}

/** The engine's insert is cut at the n-th rename or sync from now on, whichever it belongs to. */
async function killAtCall(round: Round): Promise<void> {
  const { rig, chance } = round
  const calls = ['rename', 'renameat2', 'fsync', 'fdatasync', 'unlink'] as const
  const call = calls[between(chance, 0, calls.length)]!
  const pid = rig.stint.pid()
  const fault = await injectFault(pid, [`${call}:signal=SIGKILL:when=${between(chance, 1, 30)}`])
  const isGone = await until('the kill at a call', () => !isAlive(pid), 4_000).then(
    () => true,
    () => false, // it makes fewer of these calls
  )
  await fault.stop()
  if (isGone) await rig.stint.ended()
  else await rig.stint.kill()
  tally.kills++
  tally.killsUnderLoad++
  await restart(rig.stint)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false // ESRCH: it is gone
  }
}

async function diskFails({ rig, chance }: Round): Promise<void> {
  const kinds = ['fdatasync:error=EIO', 'pwrite64:error=ENOSPC', 'pwrite64:retval=7', 'fdatasync:error=EIO:when=2+3']
  const fault = await injectFault(rig.stint.pid(), [kinds[between(chance, 0, kinds.length)]!])
  await Bun.sleep(between(chance, 100, 1500))
  await fault.stop()
}

async function killServer({ rig, chance }: Round, which: 'influx' | 'clickhouse'): Promise<void> {
  const server = rig.stores![which]
  await server.kill()
  await Bun.sleep(between(chance, 0, 1500))
  await server.start()
}

async function storeDown({ rig, chance }: Round, withRestart: boolean): Promise<void> {
  const { influxProxy, clickhouseProxy } = rig.stores!
  const down = chance() < 0.3 ? [influxProxy, clickhouseProxy] : [chance() < 0.5 ? influxProxy : clickhouseProxy]
  for (const proxy of down) proxy.setDown(true)
  await Bun.sleep(between(chance, 200, 2000))
  if (withRestart) {
    await rig.stint.kill()
    tally.kills++
    await restart(rig.stint)
  }
  for (const proxy of down) proxy.setDown(false)
}

type FaultOf = readonly [name: string, weight: number, run: (round: Round) => Promise<void>]

const COMMON: FaultOf[] = [
  ['kill -9 under load', 10, killAndRestart],
  ['kill -9 in the start', 3, killInStart],
  ['kill -9 in a key rotation', 2, killInRotation],
]
const BY_STRACE: FaultOf[] = [['the disk fails', 1, diskFails]]
const EMBEDDED: FaultOf[] = [['kill -9 at a rename or sync', 4, killAtCall]]
const REMOTE: FaultOf[] = [
  ['kill -9 of influxd', 2, (round) => killServer(round, 'influx')],
  ['kill -9 of ClickHouse', 2, (round) => killServer(round, 'clickhouse')],
  ['a store is down', 2, (round) => storeDown(round, false)],
  ['a store is down over a kill -9', 2, (round) => storeDown(round, true)],
]

function draw(faults: readonly FaultOf[], chance: Chance): FaultOf {
  let at = chance() * faults.reduce((sum, [, weight]) => sum + weight, 0)
  for (const fault of faults) {
    at -= fault[1]
    if (at < 0) return fault
  }
  return faults[0]!
}

async function openRig(name: 'embedded' | 'remote', chance: Chance): Promise<Rig> {
  const stores = name === 'remote' ? await startFaultStores({ lose: 0.3, random: chance }) : undefined
  stores?.influxProxy.refuse(`process=${POISON_PROCESS}`)
  stores?.clickhouseProxy.refuse(`"${POISON_PROCESS}"`)
  const stint = createStintProcess({ ...SETTINGS, ...stores?.settings })
  await stint.start()
  return { name, stint, stores, accounts: [] }
}

async function runRound(rig: Rig, number: number, chance: Chance): Promise<void> {
  const { stint, stores } = rig
  const email = `round-${number}@example.com`
  const caller = await stint.signUp(email)
  const oracle = createOracle({ poisonEvery: stores ? 25 : 0 })
  const round: Round = { rig, email, caller, oracle, chance }
  const faults = [
    ...COMMON,
    ...(missing('strace') === undefined ? [...BY_STRACE, ...(stores ? [] : EMBEDDED)] : []),
    ...(stores ? REMOTE : []),
  ]
  const load = startLoad(oracle, manyOf(caller, CLIENTS))
  for (let left = between(chance, 6, 14); left > 0; left--) {
    await underLoad(round)
    const [name, , run] = draw(faults, chance)
    count(name)
    await run(round)
  }
  await underLoad(round)
  await load.stop()
  await oracle.retry(caller)
  await untilShipped(stint.url, SHIPPED_WITHIN_MS)
  const stored = await readStored(caller)
  note(`round ${number} (${rig.name})`, oracle.audit(stored))
  rig.accounts.push({ caller, oracle, round: number })
  tally.rounds++
  tally.sent += oracle.sent()
  tally.acknowledged += oracle.acknowledged()
  tally.unanswered += oracle.unanswered()
  for (const answers of oracle.refused.values()) tally.refused += answers
  tally.dead += stored.dead.length
  tally.delivered +=
    stored.exceptions.length +
    stored.points.length / 2 +
    stored.timings.reduce(
      (n, { started_at, ended_at }) => n + Number(started_at !== null) + Number(ended_at !== null),
      0,
    )
}

function print(title: string): void {
  if (tally.rounds === 0) return
  console.log(`\n${title}`)
  const { faults, ...figures } = tally
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name.padEnd(18)} ${Math.round(value)}`)
  console.log('  faults injected')
  for (const [name, times] of Object.entries(faults)) console.log(`    ${name.padEnd(32)} ${times}`)
  for (const example of examples.slice(0, 20)) console.log(`  ! ${example}`)
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    figures: { type: 'string', default: 'yes' },
  },
})
const seed = Number(values.seed)
const minutes = Number(values.minutes)
if (!Number.isInteger(seed) || !(minutes > 0)) throw new Error('--minutes N --seed S: numbers')
for (const need of ['chdb', 'influxd', 'strace'] as const) missing(need) // says what is left out
const chance = createChance(seed)
const isWhole = missing('influxd') === undefined && missing('chdb') === undefined
if (!isWhole) throw new Error('the long form needs chdb and influxd')

const endsAt = performance.now() + minutes * 60_000
say(`seed ${seed}, ${minutes} minutes`)
const problems = values.figures === 'yes' ? await measureFigures(say) : []
const rigs = [await openRig('embedded', chance), await openRig('remote', chance)]
let isDone = false
try {
  for (let number = 0; performance.now() < endsAt; number++) {
    const rig = rigs[number % rigs.length]!
    await runRound(rig, number, chance)
    const found = tally.lost + tally.twice + tally.foreign + tally.altered + tally.keysLost
    if (number % 10 === 9 || found > 0) {
      say(`${tally.rounds} rounds, ${tally.kills} kills, ${tally.acknowledged} acknowledged, ${found} findings`)
    }
    if (found > 0) break
  }
  for (const { name, stint, stores, accounts } of rigs) {
    await restart(stint)
      .catch(() => {}) // it runs
      .then(() => stint.ready())
    for (const { caller, oracle, round } of accounts) {
      note(`round ${round} (${name}) read again at the end`, oracle.audit(await readStored(caller, READ_AGAIN_FROM)))
    }
    if ((await figure(stint, 'stint_spool_damaged_records')) !== 0)
      problems.push(`${name}: damaged records were counted`)
    if (stores === undefined) continue
    tally.batchesSentTwice += stores.influxProxy.storedTwice() + stores.clickhouseProxy.storedTwice()
    tally.answersLost += stores.influxProxy.lostAnswers() + stores.clickhouseProxy.lostAnswers()
  }
  isDone = true
} finally {
  print(`after ${minutes} minutes with seed ${seed}`)
  for (const { name, stint, stores } of rigs) {
    if (!isDone || examples.length > 0) {
      const path = join(tmpdir(), `stint-faults-${process.pid}-${name}.log`)
      await Bun.write(path, stint.log())
      say(`what ${name} said is in ${path}`)
    }
    await stint.close()
    await stores?.close()
  }
}
for (const kind of ['lost', 'twice', 'foreign', 'altered', 'keysLost'] as const) {
  if (tally[kind] > 0) problems.push(`${kind}: ${tally[kind]}`)
}
if (tally.slowestReadyMs > READY_WITHIN_MS) problems.push(`ready only after ${Math.round(tally.slowestReadyMs)} ms`)
if (tally.killsUnderLoad === 0) problems.push('vacuous: no kill came under load')
if (tally.batchesSentTwice === 0) problems.push('vacuous: no batch was sent twice')
if (tally.dead === 0) problems.push('vacuous: nothing was refused')
for (const problem of problems) console.log(`FAILED ${problem}`)
console.log(problems.length === 0 ? 'passed' : 'failed')
process.exit(problems.length === 0 ? 0 : 1)
