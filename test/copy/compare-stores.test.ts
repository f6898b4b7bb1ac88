import { expect, test } from 'bun:test'
import { addCounts, compareStores } from '../../src/copy/compare-stores.ts'
import { type Event, type Family, familyOf, type Mark } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import type { Scan } from '../../src/store/scan.ts'
import { NO_COUNTS } from '../../src/store/scan.ts'

const DAY_NS = 86_400_000_000_000n
const T = 1_763_596_800n * 1_000_000_000n

const mark = (kind: Mark['kind'], s: number, uid: string): Mark => ({
  ...{ kind, account: 'a', process: 'p', meta: '', uid },
  stamp: parseStampNs(T + BigInt(s) * 1_000_000_000n),
})

const nsOf = ({ stamp }: Event) => BigInt(stamp.us) * 1000n

function scanOf(events: readonly Event[]): Scan {
  const of = (family: Family) => events.filter((event) => familyOf(event.kind) === family)
  return {
    async *read() {},
    count: async (families) => addCounts(NO_COUNTS, families.flatMap(of)),
    async countDays(family) {
      const days = Map.groupBy(of(family), (event) => (nsOf(event) / DAY_NS) * DAY_NS)
      return new Map(days.entries().map(([day, own]) => [day, own.length]))
    },
    close: async () => {},
  }
}

const missingIn = async (source: readonly Event[], target: readonly Event[]) => {
  const { missing, examples } = await compareStores({
    source: scanOf(source),
    targetOf: () => scanOf(target),
    families: ['marks'],
    ...{ selection: {}, targetSelection: {} },
  })
  return [missing, ...examples]
}

const DAY_S = 86_400
const [start, end] = [mark('start', 10, 'a'), mark('end', DAY_S + 20, 'a')]

test('reports nothing for equal sides, and nothing that only the target has', async () => {
  expect(await missingIn([start, end], [start, end])).toEqual([0])
  expect(await missingIn([start, end], [start, end, mark('start', 30, 'b')])).toEqual([0])
})

test('reports the days of which the target has fewer events, whatever it has of others', async () => {
  expect(await missingIn([start, end], [start, mark('start', 30, 'c')])).toEqual([1, '1 marks of 2025-11-21'])
  expect(await missingIn([start, end], [])).toEqual([2, '1 marks of 2025-11-20', '1 marks of 2025-11-21'])
})
