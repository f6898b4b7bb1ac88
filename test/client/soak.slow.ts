// Five rounds of 2,000 runs in both clients, with a kill of the server in each. STINT_TEST_ROUNDS sets how many.
import { expect, test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { soakClients } from './soak-trial.ts'

const ROUNDS = Number(process.env.STINT_TEST_ROUNDS ?? 5)
const RUNS = 2000
const lacking = missing('python') ?? missing('chdb')

test.skipIf(lacking !== undefined)(
  `${ROUNDS} rounds of ${RUNS} runs: arrived and reported as dropped are sent`,
  async () => {
    const { sent, arrived, dropped, lost, doubled, kills } = await soakClients(ROUNDS, RUNS)
    console.log(`${sent} sent, ${arrived} arrived, ${dropped} reported as dropped, ${kills} kills of the server`)
    expect({ lost, doubled }).toEqual({ lost: [], doubled: [] })
    expect(arrived + dropped).toBe(sent)
    expect(dropped).toBeGreaterThan(0)
  },
)
