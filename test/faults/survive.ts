// A round of faults under load, after which Stint has every acknowledged event. STINT_TEST_ROUNDS adds rounds of faults
// drawn by chance, each on an account of its own.
import { expect } from 'bun:test'
import { createRandom } from '../../src/demo/day-of-jobs.ts'
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
} from './round.ts'

const LOAD = { clients: 3, poisonEvery: 50 }
const ROUNDS = Number(process.env.STINT_TEST_ROUNDS ?? 0)
const ANYWHERE = [KILL, KILL_IN_START, KILL_IN_ROTATION, RESTORE, DISK_FAILS]
const DRAWN: Record<RigName, readonly RoundFault[]> = {
  embedded: [...ANYWHERE, KILL_AT_CALL],
  remote: [...ANYWHERE, KILL_INFLUXD, KILL_CLICKHOUSE, STORE_DOWN, STORE_DOWN_OVER_KILL],
}
const READY_WITHIN_CPU_MS = 5_000

/** Every acknowledged event is readable once and as it was sent, nothing else is readable, and it was no easy run. */
export async function survive(name: RigName, faults: readonly RoundFault[]): Promise<Rig['counts']> {
  const chance = createRandom(Date.now())
  const rig = await openRig(name, chance)
  try {
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
    return rig.counts
  } finally {
    await rig.close()
  }
}
