// Looking at accounts: whose events are shown, how old an answer is, what is bounded, and what other nodes say.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { fingerprint, formerFingerprint } from '../../src/event/fingerprint.ts'
import { NO_OTHERS, type OtherNodes, type StoredHere } from '../../src/live/other-nodes.ts'
import { createStoredElsewhere } from '../../src/watch/nodes/stored-elsewhere.ts'
import { DAY, endAt, HOUR, MINUTE, openCast, raiseAt, runAt, startAt, T0 } from './live-cast.ts'

test('another account never finds a row of this one', async () => {
  const cast = await openCast()
  cast.events.push(...runAt(T0 - HOUR, MINUTE, { process: 'secret', account: 'ada' }))
  expect((await cast.ask('', 'eve')).processes).toEqual([])
  expect((await cast.ask('', 'ada')).processes).toHaveLength(1)
  await cast.send(startAt(T0, { process: 'mine', account: 'eve' }), startAt(T0, { process: 'hers', account: 'ada' }))
  const namesOf = async (account: string) => (await cast.ask('', account)).processes.map(({ process }) => process)
  expect(await namesOf('eve')).toEqual(['mine'])
  expect((await namesOf('ada')).toSorted()).toEqual(['hers', 'secret'])
  expect((await cast.ask('process=secret', 'eve')).processes).toEqual([])
})

describe('the reason of a failure', () => {
  test('comes with it, before any store has either', async () => {
    const cast = await openCast()
    await cast.ask()
    const of = { uid: 'a' }
    await cast.send(startAt(T0 - 5_000, of), raiseAt(T0 - 3_000, 'Error: disk full\n  at x', of))
    await cast.send(endAt(T0 - 2_000, { ...of, failed: true }))
    expect((await cast.ask()).processes[0]).toMatchObject({ state: 'failed', exception: 'Error: disk full' })
  })
  test('of a run that is still open goes when its group is ignored, and comes back', async () => {
    const cast = await openCast()
    await cast.send(startAt(T0 - 5_000, { uid: 'a' }), raiseAt(T0 - 3_000, 'Error: x\n  at y', { uid: 'a' }))
    const { fingerprint: group, state } = (await cast.ask()).processes[0]!
    expect(state).toBe('exceptions')
    cast.decisions = [{ fingerprint: group!, process: 'job', status: 'ignored', atUs: T0 * 1000 }]
    expect(await cast.ask()).toMatchObject({ last_24h: { exceptions: 0 }, processes: [{ state: 'running' }] })
    cast.decisions = []
    expect((await cast.ask()).processes[0]!.state).toBe('exceptions')
  })
})

test('a decision of 2.0 counts before the exception is stored, and later ones come first', async () => {
  const cast = await openCast()
  const exception = 'Error: x\n  at y'
  const decide = (fingerprint: string, status: 'ignored' | 'resolved', atUs: number) =>
    ({ fingerprint, process: 'job', status, atUs }) as const
  cast.decisions = [decide(formerFingerprint(exception), 'ignored', T0 * 1000)]
  await cast.send(startAt(T0 - 5_000, { uid: 'a' }), raiseAt(T0 - 3_000, exception, { uid: 'a' })) // of the reading …
  expect((await cast.ask()).processes[0]!.state).toBe('running')
  await cast.send(raiseAt(T0 - 2_000, exception, { uid: 'a' })) // … and of the log
  expect((await cast.ask()).processes[0]!.state).toBe('running')
  cast.decisions.push(decide(fingerprint(exception), 'resolved', (T0 - 2_500) * 1000))
  expect((await cast.ask()).processes[0]!.state).toBe('exceptions')
})

describe('the age of an answer', () => {
  const nightly = (lastMs: number) => Array.from({ length: 10 }, (_, i) => runAt(lastMs - i * DAY, MINUTE)).flat()

  test('is said when a request is still being received, and silence is judged at what is known', async () => {
    let receivingUs: number | undefined
    const cast = await openCast({ receivingUs: () => receivingUs })
    cast.events.push(...nightly(T0 - 26 * HOUR))
    expect(await cast.ask()).toMatchObject({ stale_s: null, processes: [{ state: 'completed' }] })
    expect(cast.live.freshVersionOf('ada')).toBeDefined()
    receivingUs = T0 * 1000
    cast.nowMs += HOUR
    expect(cast.live.freshVersionOf('ada')).toBeUndefined()
    expect(await cast.ask()).toMatchObject({ stale_s: 3600, processes: [{ state: 'completed' }] })
    receivingUs = undefined
    expect(await cast.ask()).toMatchObject({ stale_s: null, processes: [{ state: 'silent' }] })
  })
  test('after a pause the answer waits until it is fresh', async () => {
    const cast = await openCast()
    await cast.ask()
    cast.nowMs += 5 * MINUTE
    await cast.send(...runAt(cast.nowMs - 60_000, 1_000, { failed: true }))
    expect(await cast.ask()).toMatchObject({ stale_s: null, sentence: '1 process failed.' })
  })
})

test('what left the log before it was read comes from the stores, and until then the answer says its age', async () => {
  let gate = Promise.resolve()
  const cast = await openCast({ beforeRead: () => gate })
  await cast.ask()
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  // more than a segment
  for (let i = 0; i < 8; i++) await cast.send(raiseAt(T0 - i, 'x'.repeat(100_000)))
  await cast.ship()
  cast.isAway = true
  resolve()
  cast.nowMs += HOUR
  expect(await cast.ask()).toMatchObject({ stale_s: 3600 })
  expect(cast.live.freshVersionOf('ada')).toBeUndefined()
  cast.isAway = false
  cast.nowMs += 3_000
  expect(await cast.ask()).toMatchObject({ stale_s: null, last_24h: { exceptions: 8 } })
})

/** For so many processes with these events each. */
async function roomFor(processes: number, ...events: Event[]): Promise<number> {
  const cast = await openCast()
  cast.events.push(...events)
  await cast.ask()
  return Math.ceil(processes * cast.live.bytes())
}

describe('bounds', () => {
  test('all processes are counted, and the last of many is found by its name', async () => {
    const cast = await openCast()
    for (let i = 0; i < 1500; i++)
      cast.events.push(...runAt(T0 - HOUR - i, 1_000, { process: `job ${i}`, failed: i % 3 === 0 }))
    expect(await cast.ask()).toMatchObject({ counts: { failed: 500, completed: 1000 }, found: 1500, omitted: 0 })
    const one = await cast.ask('q=job 1499')
    expect(one.processes.map(({ process }) => process)).toEqual(['job 1499'])
    expect(one).toMatchObject({ found: 1, counts: { completed: 1000 } })
    const failed = await cast.ask('state=failed&sort=name')
    expect([failed.found, failed.processes[0]!.process, failed.processes.length]).toEqual([500, 'job 0', 100])
    await expect(cast.ask('sort=wrong')).rejects.toMatchObject({ code: 'question_invalid' })
  })
  test('beyond the room the newest processes are shown, and the answer says how many are not', async () => {
    const maxBytes = await roomFor(5.3, ...runAt(T0 - HOUR, 1_000, { process: 'job 0' }))
    const cast = await openCast({ maxBytes })
    for (let i = 0; i < 8; i++) cast.events.push(...runAt(T0 - (i + 1) * HOUR, 1_000, { process: `job ${i}` }))
    const { omitted, counts, processes } = await cast.ask()
    expect({ omitted, completed: counts.completed }).toEqual({ omitted: 3, completed: 5 })
    expect(processes.map(({ process }) => process)).toEqual(['job 0', 'job 1', 'job 2', 'job 3', 'job 4'])
  })
  test('processes that begin while somebody looks take no more room than others', async () => {
    const maxBytes = await roomFor(5.3, startAt(T0 - HOUR, { process: 'job 00' }))
    const cast = await openCast({ maxBytes })
    const started = (i: number) => startAt(T0 - HOUR + i * 1_000, { process: `job ${i}` })
    await cast.ask()
    for (let i = 0; i < 40; i++) await cast.send(started(i))
    const { omitted, processes } = await cast.ask('sort=name')
    expect([omitted, processes.map(({ process }) => process)]).toEqual([
      35,
      [35, 36, 37, 38, 39].map((i) => `job ${i}`),
    ])
    expect(cast.live.bytes()).toBeLessThan((17 / 16) * maxBytes)
  })
  test('events of an account that is not read yet are bounded, too', async () => {
    const maxBytes = 3_000
    const cast = await openCast({ maxBytes })
    cast.live.changesOf('ada')
    for (let i = 0; i < 40; i++) await cast.send(startAt(T0 - HOUR, { process: `job ${i}` }))
    while (!cast.live.changesOf('ada').version.includes(' 40+')) await new Promise((done) => setTimeout(done, 1))
    expect(cast.live.bytes()).toBeGreaterThan(0)
    expect(cast.live.bytes()).toBeLessThan((17 / 16) * maxBytes)
  })
  test('the account that was asked for longest ago goes', async () => {
    const runs = [1, 2, 3].flatMap((hours) => runAt(T0 - hours * HOUR, 1_000))
    const cast = await openCast({ maxBytes: await roomFor(1.5, ...runs) })
    for (const account of ['ada', 'eve']) cast.events.push(...runs.map((event) => ({ ...event, account })))
    await cast.ask('', 'ada')
    await cast.ask('', 'eve')
    cast.reads = []
    await cast.ask('', 'eve')
    expect(cast.reads).toEqual([])
    await cast.ask('', 'ada')
    expect(cast.reads).toContain('findMarks')
  })
  test('an account that is being read stays, whatever is read meanwhile', async () => {
    const cast = await openCast({ maxBytes: 1_000 })
    for (const account of ['ada', 'eve']) cast.events.push(...runAt(T0 - HOUR, 1_000, { account }))
    const { promise, resolve } = Promise.withResolvers<void>()
    cast.answers = promise
    const reading = cast.ask('', 'ada')
    while (cast.reads.length === 0) await new Promise((done) => setImmediate(done))
    cast.answers = Promise.resolve()
    expect((await cast.ask('', 'eve')).processes).toHaveLength(1)
    resolve()
    expect((await reading).processes).toHaveLength(1)
  })
  test('an account that goes while its answer waits for the log is read again', async () => {
    const cast = await openCast({ maxBytes: 3_000 })
    for (const account of ['eve', 'ada']) cast.events.push(...runAt(T0 - HOUR, 1_000, { account }))
    await cast.ask('', 'eve')
    await cast.ask('', 'ada')
    cast.reads = []
    const many = Array.from({ length: 60 }, (_, i) => startAt(T0 - 1_000, { account: 'eve', uid: `a long uid ${i}` }))
    await Promise.all(many.map((event) => cast.send(event)))
    expect((await cast.ask('', 'ada')).processes).toHaveLength(1)
    expect(cast.reads).toContain('findMarks')
  })
  test('an account that takes long is read on, and meanwhile the answer says so', async () => {
    const cast = await openCast({ lookMs: 5 })
    cast.events.push(...runAt(T0 - HOUR, 1_000))
    const { promise, resolve } = Promise.withResolvers<void>()
    cast.answers = promise
    await expect(cast.ask()).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: expect.stringContaining('still being read'),
    })
    await expect(cast.ask()).rejects.toMatchObject({ code: 'store_unavailable' })
    resolve()
    while (cast.live.isReading('ada')) await new Promise((done) => setImmediate(done))
    expect((await cast.ask()).processes).toHaveLength(1)
    expect(cast.reads.filter((name) => name === 'findRaised')).toHaveLength(1)
  })
  test('an account that is erased while it is read is not answered as empty', async () => {
    const cast = await openCast()
    cast.events.push(...runAt(T0 - HOUR, 1_000))
    const { promise, resolve } = Promise.withResolvers<void>()
    cast.answers = promise
    const reading = cast.ask()
    while (cast.reads.length === 0) await new Promise((done) => setImmediate(done))
    cast.live.forget('ada')
    resolve()
    await expect(reading).rejects.toMatchObject({ code: 'store_unavailable' })
  })
  test('of a long history the newest runs are read, and counts begin now', async () => {
    const cast = await openCast({ maxMarks: 3 })
    for (let i = 0; i < 20; i++) cast.events.push(...runAt(T0 - i * MINUTE - HOUR, 1_000, { failed: i === 0 }))
    const { counts_since: since, last_24h: day, processes } = await cast.ask()
    expect(since).toBe(new Date(T0).toISOString())
    expect(day.runs).toBe(0)
    expect(processes[0]).toMatchObject({ state: 'failed' })
    await cast.send(...runAt(T0 - 2_000, 1_000))
    expect(await cast.ask()).toMatchObject({ last_24h: { runs: 1 }, processes: [{ state: 'completed' }] })
  })
  test('an account that was erased is read again', async () => {
    const cast = await openCast()
    cast.events.push(...runAt(T0 - HOUR, MINUTE))
    expect((await cast.ask()).processes).toHaveLength(1)
    cast.events.length = 0
    cast.live.forget('ada')
    expect((await cast.ask()).processes).toEqual([])
    expect(cast.live.bytes()).toBe(0)
  })
  test('what was imported is found an hour later, although nothing of the account came through the log', async () => {
    const cast = await openCast()
    cast.events.push(...runAt(T0 - HOUR, MINUTE))
    await cast.ask()
    cast.events.push(...runAt(T0 - 2 * HOUR, MINUTE, { process: 'imported' }))
    cast.nowMs += 61 * MINUTE
    await cast.until(({ found }) => found === 2)
  })
  test('a store that is away is asked again after two seconds', async () => {
    const cast = await openCast()
    cast.isAway = true
    const readsOfLook = async () => {
      cast.reads = []
      await expect(cast.ask()).rejects.toMatchObject({ code: 'store_unavailable' })
      return cast.reads.length
    }
    expect(await readsOfLook()).toBeGreaterThan(0)
    cast.nowMs += 1_000
    expect(await readsOfLook()).toBe(0)
    cast.nowMs += 1_500
    expect(await readsOfLook()).toBeGreaterThan(0)
  })
  test('while nothing is new no store is asked', async () => {
    const cast = await openCast()
    cast.events.push(...runAt(T0 - HOUR, MINUTE))
    await cast.ask()
    cast.reads = []
    for (let i = 0; i < 20; i++) {
      cast.nowMs += 5_000
      await cast.ask()
    }
    expect(cast.reads).toEqual([])
  })
})

describe('versions', () => {
  test('change when an event is in the log, and again when it is in its store; of other processes they do not', async () => {
    const cast = await openCast()
    await cast.ask()
    const of = (process: string) => cast.live.versionOf('ada', [process])
    const versions = [of('job')]
    const other = of('other')
    await cast.send(startAt(T0 - 1_000))
    await cast.ask()
    versions.push(of('job'))
    await cast.ship()
    versions.push(of('job'))
    expect(new Set(versions).size).toBe(3)
    expect(of('other')).toBe(other)
    expect(of('job')).toBe(versions[2])
    cast.live.touch('ada') // a group was resolved
    expect(of('job')).not.toBe(versions[2])
    expect(of('other')).not.toBe(other)
  })
  test('change for each process when the account is read again', async () => {
    const cast = await openCast()
    cast.events.push(...runAt(T0 - HOUR, MINUTE))
    await cast.ask()
    const of = (process: string) => cast.live.versionOf('ada', [process])
    const before = of('job')
    cast.nowMs += 11 * MINUTE
    await cast.send(startAt(cast.nowMs, { process: 'other' }))
    await cast.ship()
    await cast.until(() => of('job') !== before)
    expect(cast.reads.filter((name) => name === 'findRaised')).toHaveLength(2) // a base each
  })
})

describe('other nodes', () => {
  interface Report {
    us: number
    /** Of a node that is silent. */
    seenUs?: number
    news: Record<string, readonly (readonly [number, number])[]>
  }
  const withOther = async () => {
    const report: Report = { us: T0 * 1000, news: {} }
    const elsewhere = createStoredElsewhere({
      nowUs: () => cast.nowMs * 1000,
      reports: () => [
        {
          ...{ node: 2, seenUs: report.seenUs ?? cast.nowMs * 1000, isSilent: report.seenUs !== undefined },
          report: { changed: [], late: [], stored: { us: report.us, looked: [], news: report.news } },
        },
      ],
    })
    const cast = await openCast({ others: elsewhere satisfies OtherNodes })
    return { cast, report }
  }

  test('a store that is away there makes no process silent, and the answer says how old it is', async () => {
    const { cast, report } = await withOther()
    for (let i = 0; i < 10; i++) cast.events.push(...runAt(T0 - 26 * HOUR - i * DAY, MINUTE))
    expect((await cast.ask()).processes[0]!.state).toBe('completed')
    cast.nowMs += HOUR
    expect(await cast.ask()).toMatchObject({ stale_s: 3600, processes: [{ state: 'completed' }] })
    report.us = cast.nowMs * 1000
    expect(await cast.ask()).toMatchObject({ stale_s: null, processes: [{ state: 'silent' }] })
  })
  test('what they stored is found, also what happened long ago', async () => {
    const { cast, report } = await withOther()
    report.news = { ada: [[0, Number.MAX_SAFE_INTEGER]] }
    await cast.ask()
    const lateMs = T0 - 3 * HOUR
    cast.events.push(...runAt(lateMs, 1_000, { process: 'late' }), ...runAt(T0 - 5_000, 1_000, { failed: true }))
    report.news = {
      ada: [
        [0, Number.MAX_SAFE_INTEGER],
        [1, lateMs * 1000],
      ],
    }
    cast.nowMs += 3_000
    report.us = cast.nowMs * 1000
    await cast.until(({ processes }) => processes.length === 2)
    expect(await cast.ask()).toMatchObject({ counts: { failed: 1, completed: 1 }, last_24h: { runs: 2 } })
  })
  test('one that begins to count makes the account be read once more', async () => {
    const { cast, report } = await withOther()
    await cast.ask()
    cast.events.push(...runAt(T0 - 5_000, 1_000))
    report.news = { ada: [[0, Number.MAX_SAFE_INTEGER]] }
    cast.nowMs += 3_000
    await cast.until(({ processes }) => processes.length === 1)
  })
  const nothing: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER]
  test('the first look after a pause has what they stored meanwhile, or says its age', async () => {
    for (const isSaid of [true, false]) {
      const { cast, report } = await withOther()
      if (isSaid) report.news = { ada: [nothing] }
      await cast.ask()
      cast.nowMs += 5 * MINUTE
      report.us = cast.nowMs * 1000
      const atMs = T0 + MINUTE
      cast.events.push(...runAt(atMs, 1_000))
      if (isSaid) report.news = { ada: [nothing, [1, atMs * 1000]] }
      cast.isAway = true
      expect(await cast.ask()).toMatchObject({ stale_s: 300, processes: [] })
      cast.isAway = false
      cast.nowMs += 3_000
      report.us = cast.nowMs * 1000
      expect(await cast.ask()).toMatchObject({ stale_s: null, processes: [{ process: 'job' }] })
    }
  })
  test('one that died is waited for ten minutes', async () => {
    const { cast, report } = await withOther()
    report.news = { ada: [nothing] }
    await cast.ask()
    report.seenUs = T0 * 1000
    cast.nowMs += 9 * MINUTE
    expect((await cast.ask()).stale_s).toBe(540)
    cast.nowMs += 2 * MINUTE
    await cast.ask()
    expect((await cast.ask()).stale_s).toBeNull()
  })
  test('hear of what the log held when the count began', async () => {
    const served: StoredHere[] = []
    const cast = await openCast({ others: { ...NO_OTHERS, serve: (source) => served.push(source) } })
    await cast.send(...runAt(T0 - 5_000, 1_000))
    const counts = () => served[0]!.newsOf(['ada']).ada!.at(-1)
    expect(counts()).toEqual([0, Number.MAX_SAFE_INTEGER])
    await cast.ship()
    expect(counts()).toEqual([1, 0])
  })
  test('alone none is asked', () => expect(NO_OTHERS.isAlone).toBe(true))
})
