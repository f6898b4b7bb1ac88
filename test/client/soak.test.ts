// One short round of the soak (soak.slow.ts).
import { expect, test } from 'bun:test'
import { missing } from '../support/needs.ts'
import { soakClients } from './soak-trial.ts'

const lacking = missing('python') ?? missing('chdb')

test.skipIf(lacking !== undefined)('arrived and dropped are sent while the server is killed once', async () => {
  const { sent, arrived, dropped, lost, doubled } = await soakClients(1, 160)
  expect({ lost, doubled }).toEqual({ lost: [], doubled: [] })
  expect(arrived + dropped).toBe(sent)
  expect(sent).toBe(160 * 3 + 2)
})
