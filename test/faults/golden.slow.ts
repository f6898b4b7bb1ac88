// A DATA_DIR that a Stint 1.1 left in the second turn of its clock, an hour behind the first, kept in golden/; those of released versions are in released.slow.ts.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacks, WITHIN_MS } from '../support/fault-trial.ts'
import { readStored, untilShipped } from '../support/oracle.ts'
import { callerOf } from '../support/process.ts'
import { createClockedProcess } from '../support/quick-clock.ts'
import { tempDir } from '../support/temp-dir.ts'

const GOLDEN = join(import.meta.dir, 'golden')
/** Whenever this runs. */
const SINCE = '2026-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'

interface Facts {
  readonly email: string
  readonly account: string
  readonly keyId: string
  readonly secret: string
  readonly sent: readonly { readonly path: string; readonly uid?: string; readonly at: string }[]
}

test.skipIf(lacks('chdb'))(
  'a DATA_DIR in the second turn of the clock of 1.1: delivered, and the stamps continue behind both turns',
  async () => {
    const facts = JSON.parse(readFileSync(join(GOLDEN, 'second-turn.json'), 'utf8')) as Facts & { wallUs: number }
    const dataDir = tempDir('golden')
    expect(Bun.spawnSync(['tar', '-xzf', join(GOLDEN, 'second-turn.tar.gz'), '-C', dataDir]).success).toBe(true)
    const startedUs = facts.wallUs + 1_000_000
    const stepUs = startedUs - Date.now() * 1000
    await using stint = createClockedProcess({ stepUs, passUs: 0 }, {}, { dataDir })
    await stint.start()
    const caller = callerOf(stint.url, facts)
    const answers: { uid?: string; at: string }[] = [...facts.sent]
    for (let i = 0; i < 20; i++) {
      const answer = await caller.post('/v1/start', { process: 'turns', uid: `new-${i}` })
      const { at } = (await answer.json()) as { at: string }
      expect(answers.every((answer) => at > answer.at)).toBe(true)
      answers.push({ uid: `new-${i}`, at })
    }
    await untilShipped(stint.url, WITHIN_MS)
    const { timings } = await readStored(caller, SINCE)
    const byUid = (a: { uid?: string | null }, b: { uid?: string | null }) => (a.uid! < b.uid! ? -1 : 1)
    expect(timings.map(({ uid, started_at }) => ({ uid, at: started_at })).sort(byUid)).toEqual(
      answers.sort(byUid) as [],
    )
  },
)
