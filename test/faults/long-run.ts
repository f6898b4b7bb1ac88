// `bun run test:faults --minutes N --seed S [--without-figures]`: rounds of load under faults drawn by the seed, embedded and in front of real stores by turns, until
// the time is up; before them the figures. At the end every account is read once more and must be as it was. Exits with 1 on any finding, and
// when nothing much happened.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../../src/demo/day-of-jobs.ts'
import { figure } from '../support/fault-trial.ts'
import { missing } from '../support/needs.ts'
import { type Findings, readStored } from '../support/oracle.ts'
import { measureFigures } from './long-figures.ts'
import {
  between,
  type Chance,
  DISK_FAILS,
  KILL,
  KILL_AT_CALL,
  KILL_CLICKHOUSE,
  KILL_IN_ROTATION,
  KILL_IN_START,
  KILL_INFLUXD,
  openRig,
  RESTORE,
  type Rig,
  type Round,
  type RoundFault,
  restart,
  runRound,
  STORE_DOWN,
  STORE_DOWN_OVER_KILL,
} from './round.ts'

const LOAD = { clients: 4, poisonEvery: 100 }
const READY_WITHIN_CPU_MS = 5_000
const READ_AGAIN_FROM = '-12h'
const NEEDS = ['chdb', 'influxd', 'ptrace'] as const

const FAULTS: Record<Rig['name'], readonly RoundFault[]> = {
  embedded: [KILL, KILL_IN_START, KILL_IN_ROTATION, RESTORE, DISK_FAILS, KILL_AT_CALL],
  remote: [
    KILL,
    KILL_IN_START,
    KILL_IN_ROTATION,
    RESTORE,
    DISK_FAILS,
    KILL_INFLUXD,
    KILL_CLICKHOUSE,
    STORE_DOWN,
    STORE_DOWN_OVER_KILL,
  ],
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    'without-figures': { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const minutes = Number(values.minutes)
if (!Number.isInteger(seed) || !(minutes > 0)) throw new Error('--minutes N --seed S: numbers')
for (const need of NEEDS) if (missing(need) !== undefined) throw new Error(`the long form needs ${need}`)

const say = (text: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${text}`)

const totals = {
  'events sent': 0,
  'events acknowledged': 0,
  '… with their own time, s': 0,
  '… with their own time, ms': 0,
  '… with their own time, µs': 0,
  'events sent again, answered the same': 0,
  'events unanswered': 0,
  'events delivered': 0,
  'events in the dead letters': 0,
  'answers that refused': 0,
}
const found = { lost: 0, twice: 0, foreign: 0, altered: 0 }
const examples: string[] = []
const isClean = () => examples.length === 0

function note(where: string, findings: Findings): void {
  for (const kind of ['lost', 'twice', 'foreign', 'altered'] as const) found[kind] += findings[kind]
  for (const example of findings.examples) examples.push(`${where}: ${example}`)
}

function add({ oracle, stored }: Round): void {
  totals['events sent'] += oracle.sent()
  totals['events acknowledged'] += oracle.acknowledged()
  const { s, ms, µs } = oracle.ownTimes()
  totals['… with their own time, s'] += s
  totals['… with their own time, ms'] += ms
  totals['… with their own time, µs'] += µs
  totals['events sent again, answered the same'] += oracle.sentAgain()
  totals['events unanswered'] += oracle.unanswered()
  for (const answers of oracle.refused.values()) totals['answers that refused'] += answers
  totals['events in the dead letters'] += stored.dead.length
  const marks = stored.timings.flatMap(({ started_at, ended_at }) => [started_at, ended_at].filter((at) => at !== null))
  totals['events delivered'] += marks.length + stored.points.length / 2 + stored.exceptions.length
}

/** As many as a round has, by weight. */
function drawFaults(faults: readonly RoundFault[], chance: Chance): RoundFault[] {
  const all = faults.reduce((sum, { weight }) => sum + weight, 0)
  return Array.from({ length: between(chance, 8, 16) }, () => {
    let at = chance() * all
    return faults.find(({ weight }) => {
      at -= weight
      return at < 0
    })!
  })
}

const sumOf = (rigs: readonly Rig[], figureOf: (rig: Rig) => number) =>
  rigs.reduce((sum, rig) => sum + figureOf(rig), 0)

const chance = createRandom(seed)
say(`seed ${seed}, ${minutes} minutes`)
const problems = values['without-figures'] ? [] : await measureFigures(say)
const endsAt = performance.now() + minutes * 60_000
const rigs = [await openRig('embedded', chance), await openRig('remote', chance)]
const rounds: { readonly rig: Rig; readonly number: number; readonly round: Round }[] = []
let isDone = false
try {
  for (let number = 0; performance.now() < endsAt && isClean(); number++) {
    const rig = rigs[number % rigs.length]!
    const round = await runRound(rig, `round-${number}@example.com`, chance, drawFaults(FAULTS[rig.name], chance), LOAD)
    note(`round ${number} (${rig.name})`, round.findings)
    add(round)
    rounds.push({ rig, number, round: { ...round, stored: { timings: [], points: [], exceptions: [], dead: [] } } })
    const kills = sumOf(rigs, ({ counts }) => counts.kills)
    const { acknowledged } = round.oracle
    say(
      `round ${number}, ${rig.name}: ${acknowledged()} acknowledged, ${kills} kills so far, ${examples.length} findings`,
    )
  }
  for (const rig of rigs) {
    await rig.stint.kill()
    await restart(rig)
    if ((await figure(rig.stint, 'stint_spool_damaged_records')) !== 0) problems.push(`${rig.name}: damaged records`)
  }
  for (const { rig, number, round } of rounds) {
    const stored = await readStored(round.caller, READ_AGAIN_FROM)
    note(`round ${number} (${rig.name}), read again at the end`, round.oracle.audit(stored))
  }
  isDone = true
} finally {
  for (const rig of rigs) {
    if (!isDone || !isClean()) {
      const path = join(tmpdir(), `stint-faults-${process.pid}-${rig.name}.log`)
      await Bun.write(path, rig.stint.log())
      say(`what ${rig.name} said is in ${path}`)
    }
    await rig.close()
  }
}

const proxies = rigs.flatMap(({ stores }) => (stores ? [stores.influxProxy, stores.clickhouseProxy] : []))
const kills = sumOf(rigs, ({ counts }) => counts.kills)
const killsUnderLoad = sumOf(rigs, ({ counts }) => counts.killsUnderLoad)
const keysLost = sumOf(rigs, ({ counts }) => counts.keysLost)
const slowestReadyMs = Math.max(...rigs.map(({ counts }) => counts.slowestReadyMs))
const mostReadyCpuMs = Math.max(...rigs.map(({ counts }) => counts.mostReadyCpuMs))
const batchesTwice = proxies.reduce((sum, proxy) => sum + proxy.storedTwice(), 0)
const report: [string, number][] = [
  ['rounds', rounds.length],
  ...Object.entries(totals),
  ['kills of Stint', kills],
  ['… under load', killsUnderLoad],
  ['… in the start', sumOf(rigs, ({ counts }) => counts.killsInStart)],
  ['… sent again at another node', sumOf(rigs, ({ counts }) => counts.elsewhere)],
  ['acknowledged after a backup that was restored', sumOf(rigs, ({ counts }) => counts.beyondBackups)],
  ['answers of stores lost', proxies.reduce((sum, proxy) => sum + proxy.lostAnswers(), 0)],
  ['batches sent twice', batchesTwice],
  ['ready again, slowest, ms', Math.round(slowestReadyMs)],
  ['… its processor time, ms', Math.round(mostReadyCpuMs)],
  ['lost', found.lost],
  ['stored twice', found.twice],
  ['foreign', found.foreign],
  ['altered', found.altered],
  ['keys lost', keysLost],
]
console.log('')
for (const [name, value] of report) console.log(`${name.padEnd(46)} ${value}`)
console.log('faults injected')
for (const { name, counts } of rigs) {
  for (const [fault, times] of Object.entries(counts.faults))
    console.log(`  ${`${name}: ${fault}`.padEnd(44)} ${times}`)
}

for (const [kind, times] of Object.entries({ ...found, keysLost })) if (times > 0) problems.push(`${kind}: ${times}`)
if (mostReadyCpuMs > READY_WITHIN_CPU_MS) problems.push(`a start took ${mostReadyCpuMs} ms of processor time`)
if (killsUnderLoad === 0) problems.push('vacuous: no kill came under load')
if (batchesTwice === 0) problems.push('vacuous: no batch was sent twice')
if (totals['events in the dead letters'] === 0) problems.push('vacuous: nothing was refused')
for (const problem of [...examples.slice(0, 20), ...problems]) console.log(`FAILED ${problem}`)
console.log(problems.length + examples.length === 0 ? 'passed' : 'failed')
process.exit(problems.length + examples.length === 0 ? 0 : 1)
