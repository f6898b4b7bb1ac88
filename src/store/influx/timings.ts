// Questions about timings, paired here from InfluxDB's raw marks. Only Grafana's panels pair in Flux:
// InfluxDB reads a million marks in 1.5 s but needs 5 s to pair them.
import { chooseLatest, OVER } from '../latest.ts'
import { comparePlaces, LAST_NS, marksWindow } from '../order.ts'
import { boundsInUs, ceilUs, isWithin, type PairingBounds } from '../pair-marks.ts'
import type {
  LatestSelection,
  Page,
  PlainTiming,
  TimingQuestion,
  TimingRow,
  TimingSelection,
  TimingState,
} from '../source.ts'
import { canReadRuns, findNewest } from './newest-timings.ts'
import type { OpenStartsCache } from './open-starts.ts'
import type { MarkReader, RunKey, Subject } from './read-marks.ts'
import { ceilS, floorS, type SliceReader } from './slices.ts'
import { type OpenStarts, type PairedMarks, streamTimings, toPlain, toTiming } from './stream-timings.ts'

/** These are rare among the newest: nothing but the whole window finds them. */
const RARE: readonly TimingState[] = ['running', 'abandoned', 'orphan']

/** Failed ends of a question that starts from them. */
const FAILED_MAX = 1000

export async function findTimings(
  reader: MarkReader,
  openStarts: OpenStartsCache,
  q: TimingQuestion,
  page: Page,
): Promise<TimingRow[]> {
  const { states } = q
  if (states?.length === 1 && states[0] === 'failed') {
    const runs = await findFailedRuns(reader, q)
    if (runs !== undefined)
      return streamPage(
        {
          sliceMarks: reader.sliceMarks,
          read: (startS, stopS) => reader.readRuns(runs, startS, stopS),
        },
        q,
        page,
      )
  }
  const isRare = q.slowest || q.uid !== undefined || (states?.every((state) => RARE.includes(state)) ?? false)
  const newest = isRare ? undefined : await findNewest(reader, q, page)
  return newest ?? streamPage(reader, q, page, await openStarts.find(reader, q))
}

/** The runs with an end that failed, when they are few. */
async function findFailedRuns(reader: MarkReader, q: TimingQuestion): Promise<readonly RunKey[] | undefined> {
  const series = await reader.readFailed(floorS(q.fromNs), ceilS(marksWindow(q).toNs), FAILED_MAX)
  if (series === undefined) return undefined
  const runs = series.flatMap(({ subject, marks }) =>
    [...new Set(marks.map(({ uid }) => uid))].map((uid) => ({ subject, uid })),
  )
  return canReadRuns(runs) ? runs : undefined
}

/** What matches may be rare among the newest: the whole window is read once. */
export const findMatching = async (
  reader: MarkReader,
  openStarts: OpenStartsCache,
  q: TimingSelection,
  page: Page,
  matches: (timing: PlainTiming) => boolean,
): Promise<TimingRow[]> => streamPage(reader, q, page, await openStarts.find(reader, q), matches)

/** A page of the whole window. */
async function streamPage(
  reader: SliceReader,
  q: TimingQuestion,
  { limit, after }: Page,
  known?: OpenStarts,
  matches: (timing: PlainTiming) => boolean = () => true,
): Promise<TimingRow[]> {
  const asked = {
    ...q,
    toNs: !q.slowest && after !== undefined && after.ns < q.toNs ? after.ns + 1n : q.toNs,
  }
  const bounds = boundsInUs(asked)
  const order = q.slowest ? BY_LENGTH : BY_TIME
  const newest = createNewest(limit, order)
  const afterUs = after === undefined ? Number.POSITIVE_INFINITY : ceilUs(after.ns)
  const take = (timing: PairedMarks) => {
    if (q.states !== undefined && !q.states.includes(timing.state)) return undefined
    if (q.slowest && timing.start === undefined) return undefined
    // among timings of the cursor's own time the tie decides
    const isBehind = order.us(timing) < afterUs || comparePlaces(after!, order.toTiming(timing).place) < 0
    if (isBehind && isIn(timing, bounds) && matches(toPlain(timing))) newest.add(timing)
    return undefined
  }
  await streamTimings(reader, asked, take, known)
  return newest.timings()
}

/** By the rule of store/latest.ts. */
export async function findLatest(
  reader: MarkReader,
  openStarts: OpenStartsCache,
  q: LatestSelection,
): Promise<TimingRow[]> {
  const bounds = boundsInUs(q)
  const ofProcess = new Map<string, Newest>()
  const lastOver = new Map<Subject, Newest>()
  const take = (timing: PairedMarks) => {
    if (!isIn(timing, bounds)) return undefined
    const { subject, state } = timing
    addTo(ofProcess, subject.process, q.each, timing)
    if (q.byMeta && OVER.includes(state)) addTo(lastOver, subject, 1, timing)
    return undefined
  }
  await streamTimings(reader, q, take, await openStarts.find(reader, q))
  const timingsOf = (all: Map<unknown, Newest>) => [...all.values()].map((newest) => newest.timings())
  return chooseLatest(timingsOf(ofProcess), timingsOf(lastOver).flat(), q.maxRows)
}

const isIn = (timing: PairedMarks, bounds: PairingBounds): boolean =>
  isWithin(timing.state, firstUs(timing), timing.mark.at, bounds)

const firstUs = ({ mark, start }: PairedMarks): number => (start ?? mark).at

/** An order of timings: by `us` descending, which is the time of their places, then by their ties. */
interface Order {
  us(timing: PairedMarks): number
  toTiming(timing: PairedMarks): TimingRow
}

const BY_TIME: Order = { us: firstUs, toTiming }

/** The longest first; of equal ones the newest, which the tie begins with. */
const BY_LENGTH: Order = {
  us: ({ mark, start }) => mark.at - start!.at,
  toTiming(settled) {
    const timing = toTiming(settled)
    const { ns, tie } = timing.place
    const length = timing.endedNs! - timing.startedNs!
    return { ...timing, place: { ns: length, tie: `${String(LAST_NS - ns).padStart(20, '0')}${tie}` } }
  },
}

type Newest = ReturnType<typeof createNewest>

function addTo<Key>(all: Map<Key, Newest>, key: Key, limit: number, timing: PairedMarks): void {
  const newest = all.get(key) ?? createNewest(limit)
  all.set(key, newest)
  newest.add(timing)
}

/** Keeps the first `limit` timings of an order, and those of the last one's time, of which the tie decides. */
function createNewest(limit: number, order = BY_TIME) {
  let kept: PairedMarks[] = []
  let oldestUs = Number.NEGATIVE_INFINITY
  let fullAt = 2 * limit + 100

  function cut(): void {
    if (kept.length <= limit) return
    kept.sort((a, b) => order.us(b) - order.us(a))
    oldestUs = order.us(kept[limit - 1]!)
    kept = kept.filter((timing) => order.us(timing) >= oldestUs)
  }

  return {
    add(timing: PairedMarks): void {
      if (order.us(timing) < oldestUs) return
      if (kept.push(timing) < fullAt) return
      cut()
      fullAt = 2 * kept.length + 100
    },
    /** Newest first. */
    timings(): TimingRow[] {
      cut()
      return kept
        .map(order.toTiming)
        .sort((a, b) => comparePlaces(a.place, b.place))
        .slice(0, limit)
    },
  }
}
