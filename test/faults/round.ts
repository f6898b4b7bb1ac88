// A round: load on an account of its own while faults come, one after the other; then all is healed, shipped, read and held against the oracle.
// The Stint of a rig lives on from round to round, and so do its stores.
import { copyFileSync, cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startFaultStores } from '../support/fault-stores.ts'
import { injectFault, isKnown, manyOf, rotateKey, startLoad } from '../support/fault-trial.ts'
import { createOracle, type Oracle, POISON_PROCESS, readStored, untilShipped } from '../support/oracle.ts'
import { type Caller, callerOf, createStintProcess, type StintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

/** 0 ≤ n < 1; its seed repeats a run. */
export type Chance = () => number

/** A whole number, `from` ≤ n < `to`. */
export const between = (chance: Chance, from: number, to: number): number => from + Math.floor(chance() * (to - from))

const SHIPPED_WITHIN_MS = 300_000
const STARTED_WITHIN_MS = 90_000
/** The spool is small, so that segments change every few seconds. */
const SETTINGS = { SIGNUP: 'open', SPOOL_MAX_BYTES: '16MiB', SERIES_MAX: '0' }

export type RigName = 'embedded' | 'remote'

export type Rig = Awaited<ReturnType<typeof openRig>>

interface Trial {
  readonly rig: Rig
  readonly caller: Caller
  readonly email: string
  readonly oracle: Oracle
  readonly chance: Chance
}

export interface RoundFault {
  readonly name: string
  /** How often it is drawn, in proportion. */
  readonly weight: number
  run(trial: Trial): Promise<void>
}

export interface RoundLoad {
  readonly clients: number
  /** Runs for each event that is refused; where the stores are remote. */
  readonly poisonEvery: number
}

/** Behind the proxies of `remote` 30 % of the answers to writes are lost, and poison is refused. */
export async function openRig(name: RigName, chance: Chance) {
  const stores = name === 'remote' ? await startFaultStores({ lose: 0.3, random: chance }) : undefined
  stores?.influxProxy.refuse(`process=${POISON_PROCESS}`)
  stores?.clickhouseProxy.refuse(`"${POISON_PROCESS}"`)
  const stint = createStintProcess({ ...SETTINGS, ...stores?.settings })
  await stint.start()
  const other = stores && createStintProcess({ ...SETTINGS, ...stores.settings, NODE_ID: '249' })
  return {
    name,
    stint,
    /** Another node before the same stores, for retries; it runs for no longer than these take. */
    other,
    stores,
    /** What was done and how it went, over all rounds. */
    counts: {
      kills: 0,
      /** After which answers were missing. */
      killsUnderLoad: 0,
      /** The most processor time a start took until it was ready. */
      mostReadyCpuMs: 0,
      /** Keys that were answered and unknown after a kill. */
      keysLost: 0,
      /** Events acknowledged after the backup that was restored. */
      beyondBackups: 0,
      /** Events of their own time sent again at the other node. */
      elsewhere: 0,
    },
    async close(): Promise<void> {
      await other?.close()
      await stint.close()
      await stores?.close()
    },
  }
}

export async function runRound(
  rig: Rig,
  email: string,
  chance: Chance,
  faults: readonly RoundFault[],
  { clients, poisonEvery }: RoundLoad,
) {
  const { stint, stores } = rig
  const caller = await stint.signUp(email)
  const oracle = createOracle({ poisonEvery: stores ? poisonEvery : 0 })
  const trial: Trial = { rig, caller, email, oracle, chance }
  const load = startLoad(oracle, manyOf(caller, clients))
  try {
    for (const { run } of faults) {
      await underLoad(trial)
      await run(trial)
    }
    await underLoad(trial)
  } finally {
    await load.stop()
  }
  if (rig.other) await retryElsewhere(rig, rig.other, caller, oracle)
  await oracle.retry(caller, (id) => id % 7 === 3)
  await untilShipped(stint.url, SHIPPED_WITHIN_MS)
  const stored = await readStored(caller)
  return { caller, oracle, stored, findings: oracle.audit(stored) }
}

/** Every third event of its own time, and all in doubt, at a node that knows nothing of them: it is given the accounts alone. */
async function retryElsewhere({ stint, counts }: Rig, other: StintProcess, caller: Caller, oracle: Oracle) {
  const before = oracle.sentAgain()
  await freeze(stint, () => {
    for (const end of ['', '-wal', '-shm']) {
      const [from, to] = [stint, other].map(({ dataDir }) => join(dataDir, `accounts.sqlite${end}`)) as [string, string]
      rmSync(to, { force: true })
      if (existsSync(from)) copyFileSync(from, to)
    }
  })
  await other.start()
  await oracle.retry(callerOf(other.url, caller), (id) => id % 3 === 0)
  await untilShipped(other.url, SHIPPED_WITHIN_MS)
  await other.terminate()
  counts.elsewhere += oracle.sentAgain() - before
}

/** Nothing moves in the process meanwhile. */
async function freeze(stint: StintProcess, work: () => void): Promise<void> {
  process.kill(stint.pid(), 'SIGSTOP')
  try {
    await Bun.sleep(1000) // as src/deploy/README.md says: calls under way end
    work()
  } finally {
    process.kill(stint.pid(), 'SIGCONT')
  }
}

/** As src/deploy/README.md says: frozen while its data is copied; after more load it dies, and the copy takes the place of the data. */
async function restoreBackup(trial: Trial): Promise<void> {
  const { rig, caller, oracle } = trial
  const { dataDir } = rig.stint
  const backup = join(tempDir('backup'), 'data')
  const snapshot = oracle.snapshot()
  await freeze(rig.stint, () => cpSync(dataDir, backup, { recursive: true, preserveTimestamps: true }))
  await underLoad(trial)
  const { dead: _, ...seen } = await readStored(caller) // dead letters are part of the data
  await kill(trial)
  rig.counts.beyondBackups += oracle.restored(snapshot, rig.stores && { ...seen, dead: [] })
  rmSync(dataDir, { recursive: true })
  cpSync(backup, dataDir, { recursive: true, preserveTimestamps: true })
  rmSync(join(backup, '..'), { recursive: true })
  await restart(rig)
}

export async function restart({ stint, counts }: Rig): Promise<void> {
  await stint.launch()
  await until('Stint started', () => isUp(stint), STARTED_WITHIN_MS)
  counts.mostReadyCpuMs = Math.max(counts.mostReadyCpuMs, cpuMs(stint.pid()))
}

/** Ready, or unready for nothing but a spool that is still full of what came before: lost answers make the stores slow. */
async function isUp({ url }: StintProcess): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined) // it does not listen yet
  if (answer === undefined || answer.ok) return answer !== undefined
  return ((await answer.json()) as { code: string }).code === 'spool_full'
}

async function underLoad({ oracle, chance }: Trial): Promise<void> {
  const enough = oracle.acknowledged() + between(chance, 5, 100)
  await until('load', () => oracle.acknowledged() >= enough)
  await Bun.sleep(between(chance, 0, 250)) // any moment
}

async function kill({ rig, oracle }: Trial): Promise<void> {
  const before = oracle.unanswered()
  await rig.stint.kill()
  rig.counts.kills++
  await until('an answer that never comes', () => oracle.unanswered() > before, 5_000).then(
    () => rig.counts.killsUnderLoad++,
    () => {}, // nothing was in flight
  )
}

async function killAndRestart(trial: Trial): Promise<void> {
  await kill(trial)
  await restart(trial.rig)
}

async function killInStart(trial: Trial): Promise<void> {
  const { rig, chance } = trial
  await kill(trial)
  for (let times = between(chance, 1, 3); times > 0; times--) {
    await rig.stint.launch()
    await Bun.sleep(between(chance, 0, 900))
    await rig.stint.kill()
    rig.counts.kills++
  }
  await restart(rig)
}

async function killInRotation(trial: Trial): Promise<void> {
  const { rig, email, chance } = trial
  const other = `${rig.counts.kills}.${email}`
  const { keyId } = await rig.stint.signUp(other)
  const rotating = rotateKey(rig.stint, other, keyId)
  await Bun.sleep(between(chance, 0, 400))
  await killAndRestart(trial)
  const secret = await rotating
  if (secret !== undefined && !(await isKnown(rig.stint, secret))) rig.counts.keysLost++
}

const CALLS = ['rename', 'renameat2', 'fsync', 'fdatasync', 'pwrite64', 'unlink'] as const

/** The process is cut off at the n-th such call from now on, whatever makes it: an insert of the embedded engine, a merge, the spool. */
async function killAtCall({ rig, chance }: Trial): Promise<void> {
  const { stint, counts } = rig
  const call = CALLS[between(chance, 0, CALLS.length)]!
  const pid = stint.pid()
  const fault = await injectFault(pid, [`${call}:signal=SIGKILL:when=${between(chance, 1, 12)}`])
  await until('the kill at a call', () => !isAlive(pid), 2_000).catch(() => {}) // it makes fewer of these calls
  await fault.stop()
  await stint.kill()
  counts.kills++
  counts.killsUnderLoad++
  await restart(rig)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false // ESRCH: it is gone
  }
}

const DISK_FAULTS = ['pwrite64:error=EIO', 'pwrite64:error=ENOSPC', 'fdatasync:error=EIO:when=2+3'] as const

async function failDisk({ rig, chance }: Trial): Promise<void> {
  const fault = await injectFault(rig.stint.pid(), [DISK_FAULTS[between(chance, 0, DISK_FAULTS.length)]!])
  await Bun.sleep(between(chance, 100, 1500))
  await fault.stop()
}

async function killStore({ rig, chance }: Trial, which: 'influx' | 'clickhouse'): Promise<void> {
  const server = rig.stores![which]
  await server.kill()
  await Bun.sleep(between(chance, 0, 1500))
  await server.start()
}

async function takeStoreDown(trial: Trial, withKill: boolean): Promise<void> {
  const { rig, chance } = trial
  const { influxProxy, clickhouseProxy } = rig.stores!
  const down = chance() < 0.3 ? [influxProxy, clickhouseProxy] : [chance() < 0.5 ? influxProxy : clickhouseProxy]
  for (const proxy of down) proxy.setDown(true)
  await Bun.sleep(between(chance, 200, 2000))
  if (withKill) await killAndRestart(trial)
  for (const proxy of down) proxy.setDown(false)
}

export const KILL: RoundFault = { name: 'kill -9 under load', weight: 10, run: killAndRestart }
export const KILL_IN_START: RoundFault = { name: 'kill -9 in the start', weight: 3, run: killInStart }
export const KILL_IN_ROTATION: RoundFault = { name: 'kill -9 in a key rotation', weight: 2, run: killInRotation }
export const RESTORE: RoundFault = { name: 'a backup is restored', weight: 3, run: restoreBackup }
/** Needs strace. */
export const KILL_AT_CALL: RoundFault = { name: 'kill -9 at a rename, write or sync', weight: 4, run: killAtCall }
/** Needs strace. */
export const DISK_FAILS: RoundFault = { name: 'the disk fails', weight: 1, run: failDisk }
export const KILL_INFLUXD: RoundFault = {
  name: 'kill -9 of influxd',
  weight: 2,
  run: (trial) => killStore(trial, 'influx'),
}
export const KILL_CLICKHOUSE: RoundFault = {
  name: 'kill -9 of ClickHouse',
  weight: 2,
  run: (trial) => killStore(trial, 'clickhouse'),
}
export const STORE_DOWN: RoundFault = {
  name: 'a store is down',
  weight: 2,
  run: (trial) => takeStoreDown(trial, false),
}
/** Load goes on until answers were lost, batches stored twice and poison refused: then the run was no easy one. */
export const UNTIL_HARD: RoundFault = {
  name: 'load until answers were lost and poison refused',
  weight: 0,
  async run({ rig }) {
    const { influxProxy, clickhouseProxy } = rig.stores!
    await until('answers lost, batches stored twice and poison refused', () =>
      [influxProxy, clickhouseProxy].every(
        (proxy) => proxy.lostAnswers() > 0 && proxy.storedTwice() > 0 && proxy.refusals() > 0,
      ),
    )
  },
}
export const STORE_DOWN_OVER_KILL: RoundFault = {
  name: 'a store is down over a kill -9',
  weight: 2,
  run: (trial) => takeStoreDown(trial, true),
}
