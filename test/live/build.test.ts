// What the stores know of an account with many processes is taken over in turns of the event loop.
import { expect, test } from 'bun:test'
import { createAccount } from '../../src/live/account.ts'
import type { BaseHead } from '../../src/live/base.ts'
import { addHead } from '../../src/live/build.ts'
import { countPerTurn } from '../support/count-turns.ts'

test('the rows that are read within one turn of the event loop are few', async () => {
  const account = createAccount('a')
  const most = await countPerTurn(async (note) => {
    const counted = <T extends object>(row: T, process: string): T & { readonly process: string } =>
      Object.defineProperty(row, 'process', {
        enumerable: true,
        get: () => {
          note()
          return process
        },
      }) as T & { readonly process: string }
    const times = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i))
    const head: BaseHead = {
      processes: times(10_000, (i) => counted({ metas: [''], lastNs: 1n, kinds: ['mark'] as const }, `job ${i}`)),
      raised: times(2_000, (i) =>
        counted(
          {
            ...{ meta: '', fingerprint: `v5:${i}`, example: 'Error: x', hours: [] },
            moments: [{ atNs: 1n, restNs: 0, uid: '' }],
          },
          `job ${i}`,
        ),
      ),
      ...{ omitted: 0, reachUs: 0, mostMarks: undefined, countsSinceUs: undefined },
    }
    await addHead(account, head)
  })
  expect(account.processes.size).toBe(10_000)
  expect(most).toBeLessThan(3_000)
})
