// kill -9 of Stint, of its stores and of the answers between them, at random moments under load; and backups that are restored as
// src/deploy/README.md says. STINT_TEST_ROUNDS adds rounds of faults drawn by chance, each on an account of its own.
import { afterEach, expect, test } from 'bun:test'
import { createRandom } from '../../src/demo/day-of-jobs.ts'
import { lacks } from '../support/fault-trial.ts'
import { NOTHING_FOUND, readStored } from '../support/oracle.ts'
import {
  between,
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
  type RigName,
  type RoundFault,
  runRound,
  STORE_DOWN,
  STORE_DOWN_OVER_KILL,
  UNTIL_HARD,
} from './round.ts'

const LOAD = { clients: 3, poisonEvery: 50 }
const ROUNDS = Number(process.env.STINT_TEST_ROUNDS ?? 0)
const ANYWHERE = [KILL, KILL_IN_START, KILL_IN_ROTATION, RESTORE, DISK_FAILS]
const DRAWN: Record<RigName, readonly RoundFault[]> = {
  embedded: [...ANYWHERE, KILL_AT_CALL],
  remote: [...ANYWHERE, KILL_INFLUXD, KILL_CLICKHOUSE, STORE_DOWN, STORE_DOWN_OVER_KILL],
}
const READY_WITHIN_CPU_MS = 5_000

let rig: Rig | undefined
afterEach(async () => {
  await rig?.close()
  rig = undefined
})

/** Every acknowledged event is readable once and as it was sent, nothing else is readable, and it was no easy run. */
async function survive(name: RigName, faults: readonly RoundFault[]): Promise<Rig> {
  const chance = createRandom(Date.now())
  rig = await openRig(name, chance)
  const { caller, oracle, findings } = await runRound(rig, 'ada@example.com', chance, faults, LOAD)
  expect(findings).toEqual(NOTHING_FOUND)
  expect(rig.counts.killsUnderLoad).toBeGreaterThan(0)
  expect(rig.counts.keysLost).toBe(0)
  expect(rig.counts.mostReadyCpuMs).toBeLessThan(READY_WITHIN_CPU_MS)

  expect(await rig.stint.terminate()).toBe(0)
  await rig.stint.start()
  expect(oracle.audit(await readStored(caller))).toEqual(NOTHING_FOUND)

  const byWeight = DRAWN[name].flatMap((fault) => Array<RoundFault>(fault.weight).fill(fault))
  for (let round = 0; round < ROUNDS; round++) {
    const drawn = Array.from({ length: between(chance, 8, 16) }, () => byWeight[between(chance, 0, byWeight.length)]!)
    const more = await runRound(rig, `round-${round}@example.com`, chance, drawn, LOAD)
    expect([drawn.map((fault) => fault.name), more.findings]).toEqual([expect.anything(), NOTHING_FOUND])
  }
  return rig
}

test.skipIf(lacks('chdb'))(
  'Stint with the embedded store survives kills during delivery, start, key rotation and (by strace) renames, syncs and unlinks',
  async () => {
    const cut = lacks('ptrace') ? [] : [KILL_AT_CALL, KILL_AT_CALL, KILL_AT_CALL]
    await survive('embedded', [KILL, KILL_IN_START, KILL_IN_ROTATION, ...cut])
  },
)

test.skipIf(lacks('chdb', 'influxd'))(
  'Stint, InfluxDB and ClickHouse survive kills during the search for poison while 30 % of the write answers are lost',
  async () => {
    await survive('remote', [KILL, KILL_INFLUXD, KILL, KILL_CLICKHOUSE, UNTIL_HARD, KILL])
  },
)

test.skipIf(lacks('chdb', 'influxd')).each(['embedded', 'remote'] as const)(
  '%s: a backup made under load and restored holds all that it had acknowledged, what is sent again is there once, and nothing in the stores is overwritten',
  async (name) => {
    const { counts } = await survive(name, [RESTORE, KILL, RESTORE])
    expect(counts.beyondBackups).toBeGreaterThan(0)
    if (name === 'remote') expect(counts.elsewhere).toBeGreaterThan(0)
  },
)
