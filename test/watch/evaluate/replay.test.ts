// Random histories with kills, suspensions, outages of the store, late and repeated events and steps of the clock, through the real evaluator and store,
// against a naive reference that knows every event: no end without its event, no miss longer than a limit after the downtime, nothing twice.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLiveness } from '../../../src/watch/evaluate/liveness.ts'
import type { KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, evaluatorOf, openStore, silent, sourceOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const EVERY = 60
const GRACE = 20
const LIMIT = 60
const RUN = 7
const DRAGS_FOR = 75
const LAST = 1500
/** A tick of the evaluation, in seconds. */
const TICK = 2
const SEEN_WITHIN = 40

interface World {
  /** From when on no start comes; the runs before are regular. */
  readonly diesAt: number
  /** The nth run hangs. */
  readonly hangs: number
  /** The nth run fails. */
  readonly fails: number
  /** The nth run takes longer than the limit, and ends. */
  readonly drags: number
  readonly returnsAt: number | undefined
  readonly downs: readonly { at: number; for: number; how: 'kill' | 'stop' | 'pause' | 'store' }[]
  /** Every nth event arrives this much later. */
  readonly lateBy: number
  readonly repeats: boolean
  /** The wall clock of Stint and its callers is set back by this much at some time; the stamps hide up to a minute. */
  readonly back: { at: number; by: number } | undefined
}

const worlds: fc.Arbitrary<World> = fc.record({
  diesAt: fc.integer({ min: 200, max: 1600 }),
  hangs: fc.integer({ min: 2, max: 12 }),
  fails: fc.integer({ min: 2, max: 12 }),
  drags: fc.integer({ min: 6, max: 12 }),
  returnsAt: fc.option(fc.integer({ min: 700, max: 1300 }), { nil: undefined }),
  downs: fc.array(
    fc.record({
      at: fc.integer({ min: 60, max: 1200 }),
      for: fc.integer({ min: 3, max: 45 }),
      how: fc.constantFrom('kill', 'pause', 'store'),
    }),
    { maxLength: 3 },
  ),
  lateBy: fc.constantFrom(0, 0, 15),
  repeats: fc.boolean(),
  back: fc.option(fc.record({ at: fc.integer({ min: 300, max: 1200 }), by: fc.integer({ min: 61, max: 900 }) }), {
    nil: undefined,
    freq: 3,
  }),
})

const CALM: World = {
  ...{ diesAt: 1600, hangs: 12, fails: 12, drags: 12, returnsAt: undefined },
  ...{ downs: [], lateBy: 0, repeats: false, back: undefined },
}

type Down = World['downs'][number]

/** `downs`: when, for how long, and how. */
const worldOf = (over: Partial<World>, ...downs: [at: number, length: number, how: Down['how']][]): [World] => [
  { ...CALM, ...over, downs: downs.map(([at, length, how]) => ({ at, for: length, how })) },
]

const EXAMPLES = [
  // the limit of a run passes, and fires, between the last heartbeat and a kill
  worldOf({ hangs: 2 }, [238, 3, 'kill']),
  // restarts while a run takes longer than its limit
  worldOf({ drags: 8 }, [560, 9, 'kill'], [590, 9, 'kill'], [620, 9, 'kill']),
  // a kill just after the clock was set back, and ends that are sent again while Stint is paused
  worldOf(
    { diesAt: 1221, hangs: 11, fails: 5, drags: 8, returnsAt: 1228, lateBy: 15, back: { at: 1086, by: 125 } },
    [1196, 32, 'pause'],
    [1100, 4, 'kill'],
    [1087, 21, 'kill'],
  ),
  worldOf(
    { diesAt: 1259, hangs: 6, fails: 3, drags: 8, returnsAt: 874, lateBy: 15, back: { at: 877, by: 62 } },
    [1007, 4, 'kill'],
    [1035, 5, 'pause'],
  ),
  // the first reading after a restart comes late, while times come twice
  worldOf(
    { diesAt: 1453, hangs: 6, returnsAt: 818, back: { at: 668, by: 685 } },
    [1143, 9, 'kill'],
    [1114, 42, 'store'],
  ),
  // a failure arrives late, just before the clock is set back
  worldOf(
    { hangs: 9, fails: 4, drags: 11, lateBy: 15, back: { at: 329, by: 160 } },
    [64, 7, 'kill'],
    [222, 3, 'kill'],
    [595, 25, 'kill'],
    [1200, 9, 'pause'],
  ),
  // a start arrives after its end, just before the clock is set back
  worldOf({ diesAt: 329, fails: 4, returnsAt: 941, lateBy: 15, repeats: true, back: { at: 324, by: 283 } }),
  worldOf({ hangs: 4, fails: 10, drags: 7, lateBy: 15, back: { at: 1176, by: 642 } }),
  worldOf({ diesAt: 1261, hangs: 11, fails: 8, drags: 7, lateBy: 15, back: { at: 564, by: 368 } }),
  // a restart seconds before the end of the times that come twice
  worldOf({ diesAt: 414, fails: 2, back: { at: 676, by: 117 } }, [773, 14, 'kill']),
  // set back by ten minutes shortly after everything broke, and with everything healthy
  worldOf({ diesAt: 900, hangs: 14, fails: 14, back: { at: 910, by: 600 } }),
  worldOf({ diesAt: 700, hangs: 10, fails: 10, back: { at: 910, by: 600 } }),
  worldOf({ diesAt: 900, back: { at: 910, by: 600 } }, [920, 8, 'kill']),
]

const BORN = Date.UTC(2026, 10, 21) * 1000

async function replay(world: World, tick = TICK) {
  const { diesAt, hangs, fails, drags, returnsAt, downs, lateBy, repeats, back } = world
  const events: { at: number; arrives: number; mark: KnownMark }[] = []
  const wallOf = (at: number) => BORN + at * S - (back !== undefined && at >= back.at ? back.by * S : 0)
  const isDown = (t: number, how?: 'store') =>
    downs.find((it) => t >= it.at && t < it.at + it.for && (how === undefined ? it.how !== 'store' : it.how === how))
  const add = (process: string, mark: KnownMark['mark'], uid: string, at: number) => {
    // a caller sends again what could not be sent
    const down = isDown(at)
    const arrival = down === undefined ? at + (events.length % 7 === 0 ? lateBy : 0) : down.at + down.for + 1
    // Stint refuses times that are far ahead of its clock
    const late = back !== undefined && at < back.at && arrival >= back.at ? at : arrival
    const one = { process, meta: '', mark, uid, atUs: wallOf(at) }
    events.push({ at, arrives: isDown(late)?.at === undefined ? late : late + 60, mark: one })
    if (repeats && events.length % 5 === 0) events.push({ at, arrives: late + 300, mark: one })
  }
  for (let n = 0, at = 30; at < LAST; n++, at += EVERY) {
    add('healthy', 'start', `h${n}`, at)
    add('healthy', 'end', `h${n}`, at + RUN)
    if (at < diesAt || (returnsAt !== undefined && at >= returnsAt)) add('dies', 'start', `d${n}`, at + 11)
    add('hangs', 'start', `g${n}`, at + 23)
    if (n !== hangs) add('hangs', 'end', `g${n}`, at + 23 + RUN)
    add('fails', 'start', `f${n}`, at + 37)
    add('fails', n === fails ? 'failed' : 'end', `f${n}`, at + 41)
    add('drags', 'start', `o${n}`, at + 45)
    add('drags', 'end', `o${n}`, at + 45 + (n === drags ? DRAGS_FOR : RUN))
  }
  events.sort((a, b) => a.arrives - b.arrives)

  let t = 0
  const wall = () => wallOf(t)
  const stored: KnownMark[] = []
  const source = sourceOf({
    async findMarks({ fromUs, toUs, processes }) {
      if (isDown(t, 'store')) throw new Error('away')
      const isAsked = ({ atUs, process }: KnownMark) =>
        atUs >= fromUs && atUs < toUs && processes?.includes(process) !== false
      return stored.filter(isAsked).sort((a, b) => b.atUs - a.atUs)
    },
  })
  const store = openStore(inMemoryDir())
  const late = { every: `${EVERY}s`, grace: `${GRACE}s` }
  for (const process of ['healthy', 'dies'])
    await store.addWatch(watchOf(`wat_${process}`, { process, late }, { sinceUs: BORN, createdUs: BORN }), 9)
  for (const process of ['healthy', 'hangs', 'drags'])
    await store.addWatch(watchOf(`wat_long_${process}`, { process, long: `${LIMIT}s` }, { sinceUs: BORN }), 9)
  for (const process of ['healthy', 'fails'])
    await store.addWatch(
      watchOf(`wat_failed_${process}`, { process, failed: { after: 1, exceptions: false } }, { sinceUs: BORN }),
      9,
    )
  await store.addWatch(watchOf('wat_slow', { process: 'drags', slow: 3 }, { sinceUs: BORN }), 9)
  const create = () => {
    let isAlive = true
    const liveness = createLiveness({
      ...{ store, nowUs: wall, monotonicUs: () => t * S, accepts: () => isAlive, log: silent },
      gapUs: 2.5 * tick * S,
    })
    const evaluator = evaluatorOf({ store, source, liveness, nowUs: wall, monotonicUs: () => t * S })
    const kill = () => {
      isAlive = false
      return liveness.stop()
    }
    return { liveness, evaluator, kill }
  }
  let running: ReturnType<typeof create> | undefined
  let next = 0
  const seen = new Map<string, number>()
  for (; t < LAST; t += tick) {
    const down = isDown(t)
    if (down?.how === 'kill' || down?.how === 'stop') {
      await (down.how === 'kill' ? running?.kill() : running?.liveness.stop())
      running = undefined
    }
    if (down !== undefined) continue
    if (running === undefined) {
      running = create()
      await running.liveness.start()
    }
    for (; next < events.length && events[next]!.arrives <= t; next++) {
      const { mark, at } = events[next]!
      if (!stored.some((it) => it.uid === mark.uid && it.mark === mark.mark && it.process === mark.process))
        stored.push(mark)
      running.evaluator.hint({ account: ACCOUNT, process: mark.process, kind: 'mark' })
      if (t - at > 60) running.evaluator.expectDelayed({ account: ACCOUNT, process: mark.process, atUs: mark.atUs })
    }
    await running.liveness.step()
    await running.evaluator.step()
    for (const { id } of await store.alerts(ACCOUNT, { limit: 50 })) if (!seen.has(id)) seen.set(id, t)
  }
  await running?.liveness.stop()
  const alerts = await store.alerts(ACCOUNT, { limit: 50 })
  await store.close()
  return { alerts, seen, events, wallOf }
}

const back0 = ({ back }: World) => back?.at ?? Number.NEGATIVE_INFINITY

/** Stint starts while times come twice, and the store is away: what was before cannot be told from what came since. */
const startsUnread = ({ back, downs }: World) =>
  downs.some(({ how, at, for: length }) => {
    const starts = at + length
    const isTwice = back !== undefined && starts >= back.at && starts < back.at + back.by
    return (
      how === 'kill' &&
      isTwice &&
      downs.some((it) => it.how === 'store' && it.at <= starts + 10 && it.at + it.for > starts)
    )
  })

test('alerts are what happened, whatever happens to Stint, its store, its clock and the events on their way', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      fc.pre(!world.downs.some((it) => back0(world) >= it.at && back0(world) <= it.at + it.for + 60))
      fc.pre(!startsUnread(world))
      const { alerts, seen, events, wallOf } = await replay(world)
      const { diesAt, hangs, fails, drags, downs, lateBy, back } = world
      // a run may be over its limit while its end is on its way
      const isOnItsWay = ({ process, condition, uid }: (typeof alerts)[number]) => {
        if (uid === `o${drags}` || uid === `g${hangs}`) return false
        const end = events.find(({ mark }) => mark.process === process && mark.mark === 'end' && mark.uid === uid)
        const lateBy = end === undefined ? 0 : end.arrives - end.at
        return lateBy > (condition === 'slow' ? 2 * RUN : LIMIT - RUN)
      }
      const of = (process: string) => alerts.filter((alert) => alert.process === process && !isOnItsWay(alert))
      expect(of('healthy')).toEqual([])

      // the gap between the last start before it died and the first one after
      const starts = events.filter(({ mark }) => mark.process === 'dies').map(({ at }) => at)
      const before = starts.filter((at) => at - 11 < diesAt)
      const lastAt = before.length === 0 ? 0 : Math.max(...before)
      const backAt = starts.filter((at) => at > lastAt).sort((a, b) => a - b)[0]
      const trouble = Math.max(0, back?.at ?? 0, ...downs.map((it) => it.at + it.for))
      const delay = lateBy + SEEN_WITHIN + 30
      const dueBy = Math.max(lastAt, trouble) + EVERY + GRACE + delay
      const gap = (backAt ?? LAST) - lastAt
      const late = of('dies')
      expect(late.length).toBeLessThanOrEqual(1)
      if (gap <= EVERY + GRACE) expect(late).toEqual([])
      else if (dueBy < Math.min(backAt ?? LAST, LAST)) {
        expect(late).toHaveLength(1)
        expect(seen.get(late[0]!.id)!).toBeLessThanOrEqual(dueBy)
      }
      for (const { resolvedUs, sinceUs, endedBy } of late) {
        if (resolvedUs === null) expect(backAt === undefined || backAt + delay > LAST - 60).toBe(true)
        else {
          expect(endedBy).toBe('event')
          // the first start that was known: one that was sent again may be older
          const known = starts.filter((at) => at > lastAt).map((at) => Math.max(sinceUs, wallOf(at)))
          expect(known).toContain(resolvedUs)
        }
      }

      const long = of('hangs')
      const hungAt = 30 + hangs * EVERY + 23
      const hungBy = Math.max(hungAt, trouble > hungAt ? trouble : 0) + LIMIT + delay
      expect(long.length).toBeLessThanOrEqual(1)
      // a run that began in times that come twice, until shortly after a restart, is lost with it unless its alert fires
      const isLost = (startedAt: number, firesBy: number) =>
        downs.some(({ how, at, for: length }) => {
          const isTwice = back !== undefined && at > back.at && startedAt <= back.at + back.by
          return how === 'kill' && isTwice && startedAt <= at + length + 2 * TICK && at < firesBy
        })
      if (hungBy < LAST && !isLost(hungAt, hungBy))
        expect(long.map(({ uid, resolvedUs }) => [uid, resolvedUs])).toEqual([[`g${hangs}`, null]])

      // its duration is known from its marks, whatever lay inside
      const draggedAt = 30 + drags * EVERY + 45
      const isReported = Math.max(draggedAt + DRAGS_FOR, trouble) + EVERY + 2 * delay + 60 < LAST
      for (const condition of ['long', 'slow']) {
        const dragged = of('drags').filter((it) => it.condition === condition)
        expect(dragged.length).toBeLessThanOrEqual(1)
        if (isReported && back === undefined)
          expect(dragged.map(({ uid, endedBy }) => [uid, endedBy])).toEqual([[`o${drags}`, 'event']])
      }

      const failed = of('fails')
      const failedAt = 30 + fails * EVERY + 41
      expect(failed.length).toBeLessThanOrEqual(1)
      const isJudged = Math.max(failedAt, trouble) + EVERY + 2 * delay + 60 < LAST
      if (isJudged && !isLost(failedAt - 4, failedAt + delay)) {
        expect(failed.map(({ uid, endedBy }) => [uid, endedBy])).toEqual([[`f${fails}`, 'event']])
        // what was not judged before the clock was set back moves to that time
        const isMoved = failedAt < back0(world) && failedAt > back0(world) - SEEN_WITHIN
        if (!isMoved) expect(failed[0]!.sinceUs).toBe(wallOf(failedAt))
        const ends = events.filter(({ mark }) => mark.process === 'fails' && mark.mark === 'end')
        const known = ends.filter(({ at }) => at > failedAt).map(({ at }) => Math.max(failed[0]!.sinceUs, wallOf(at)))
        // what was not judged before the clock was set back moves to that time
        const wasOnItsWay = ends.some(({ at }) => at < back0(world) && at > back0(world) - SEEN_WITHIN)
        if (wasOnItsWay) known.push(failed[0]!.sinceUs)
        const isThen = Math.abs(failed[0]!.resolvedUs! - wallOf(back0(world))) <= 2 * TICK * S
        if (!wasOnItsWay || !isThen) expect(known).toContain(failed[0]!.resolvedUs!)
      }
    }),
    {
      endOnFailure: true,
      numRuns: Number(process.env.REPLAY_RUNS ?? 25),
      examples: EXAMPLES,
    },
  )
})

/** Restarts with lives of so many seconds, as long as the replay lasts. */
const restarts = (min: number, max: number, how: 'kill' | 'stop') =>
  fc.array(fc.integer({ min, max }), { minLength: 200, maxLength: 200 }).map((lives) => {
    let at = 300
    return lives.flatMap((life) => {
      const down = { at: at + life, for: 2, how }
      at = down.at + down.for
      return down.at < LAST ? [down] : []
    })
  })

test.each([
  { how: 'kill', min: 10, max: 25, within: 10 },
  { how: 'stop', min: 10, max: 25, within: 7 },
  { how: 'kill', min: 4, max: 9, within: 17 },
] as const)(
  'only a job that died is late, and is so however often Stint restarts: $how every $min to $max s',
  async (row) => {
    const calm = { ...CALM, hangs: 99, fails: 99, drags: 99, diesAt: 290 }
    await fc.assert(
      fc.asyncProperty(restarts(row.min, row.max, row.how), async (downs) => {
        const { alerts, seen } = await replay({ ...calm, downs }, 1)
        expect(alerts.map(({ process, condition }) => [process, condition])).toEqual([['dies', 'late']])
        expect(seen.get(alerts[0]!.id)!).toBeLessThanOrEqual(290 + row.within * EVERY + GRACE)
      }),
      { endOnFailure: true, numRuns: Number(process.env.REPLAY_RUNS ?? 25) / 5 },
    )
  },
)
