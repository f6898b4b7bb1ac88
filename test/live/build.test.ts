// What the stores know of an account is taken over in turns of the event loop; what is older than that is asked again.
import { expect, test } from 'bun:test'
import { createAccount, findProcess, raisedOf, rowOf } from '../../src/live/account.ts'
import type { BaseHead } from '../../src/live/base.ts'
import { addHead, addPage, foldStored } from '../../src/live/build.ts'
import { MOMENTS_KEPT, raise } from '../../src/live/raised.ts'
import { countPerTurn } from '../support/count-turns.ts'
import { raiseAt, T0 } from './live-cast.ts'

const folding = { maxRunUs: 86_400e6, maxBytes: 1e6, fingerprint: () => 'group' }

/** With as many exceptions as are remembered, all newer than T0, and no mark of T0 or before. */
function fullAccount() {
  const account = createAccount('ada')
  const process = findProcess(account, 'job')
  const raised = raisedOf(process, '')
  for (let i = 1; i <= MOMENTS_KEPT; i++)
    raise(raised, { atUs: T0 * 1000 + i, restNs: 0, uid: null, fingerprint: 'group', text: 'Error: x' })
  rowOf(process, '').cutUs = T0 * 1000
  return account
}

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

test('a process of which another node stored an older mark or exception than is remembered is read again', () => {
  const ns = BigInt(T0 - 1_000) * 1_000_000n
  const mark = { process: 'job', meta: '', uid: 'late', mark: 'start', ns, restNs: 0 } as const
  const moments = [{ atNs: ns, restNs: 0, uid: '' }]
  const row = { process: 'job', meta: '', fingerprint: 'group', example: 'Error: x', moments, hours: [] }
  for (const news of [
    { marks: [mark], raised: [] },
    { marks: [], raised: [row] },
  ]) {
    const account = fullAccount()
    foldStored(account, { ...news, processes: [] }, folding)
    expect([...account.again.keys()]).toEqual(['job'])
  }
})

test('a process of which the log has an older exception than the stores returned is read again', async () => {
  const account = fullAccount()
  const page = { processes: ['job'], marks: [], starts: [], full: new Set(''), figures: [], isOpenHourWhole: true }
  const seqs = { points: 0, exceptions: 7 }
  const building = { ...folding, nowUs: T0 * 1000, delivered: { points: 0, exceptions: 0 } }
  await addPage(account, page, [{ event: raiseAt(T0 - 1_000), seqs }], building)
  expect([...account.again]).toEqual([['job', seqs]])
})
