// What the source answers about metrics, exceptions and processes, over HTTP and embedded. Timings: test/contract/pairing.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Event, Exception, Mark, Metrics } from '../../../src/event/event.ts'
import { fingerprint } from '../../../src/event/fingerprint.ts'
import { contentOf, ownStamp } from '../../../src/event/identity.ts'
import { findTrouble } from '../../../src/query/find-trouble.ts'
import type { ClickHouseStore } from '../../../src/store/clickhouse/open.ts'
import { comparePlaces } from '../../../src/store/order.ts'
import { type Page, type Selection, StoreError } from '../../../src/store/source.ts'
import { headlineOf } from '../../../src/wire/headline.ts'
import { pageThrough } from '../../contract/source.ts'
import { engineMissing } from '../../support/engine.ts'
import { openStore, PLACES, placeRemote } from './subjects.ts'

const US = 1_795_211_562_000_000
const NS = BigInt(US) * 1000n
const MINUTE_NS = 60_000_000_000n

interface Where {
  readonly process?: string
  readonly meta?: string
  readonly uid?: string
}
const stamp = (us: number, sub = 0) => ({ us: US + us, sub })
const exception = (
  account: string,
  us: number,
  text: string,
  { process = 'p', meta = '', uid }: Where = {},
): Exception => ({
  ...(uid !== undefined && { uid }),
  ...{ kind: 'exception', account, process, meta, exception: text },
  stamp: stamp(us),
})
const metrics = (account: string, us: number, items: Metrics['items']): Metrics => ({
  ...{ kind: 'metrics', account, process: 'p', meta: '', items },
  stamp: stamp(us),
})
const start = (account: string, us: number, { process = 'p', meta = '' }: Where = {}): Mark => ({
  ...{ kind: 'start', account, process, meta, uid: '' },
  stamp: stamp(us),
})
const all = (account: string): Selection => ({ account, fromNs: NS, toNs: NS + 60n * MINUTE_NS })

describe.skipIf(engineMissing !== undefined).each(PLACES)('$name', ({ place }) => {
  let store: ClickHouseStore
  let leave: () => Promise<void>
  let keep: (events: readonly Event[]) => Promise<void>
  beforeAll(async () => {
    const found = await place()
    leave = found.leave
    store = await openStore(found.address)
    const sink = store.createSink()
    expect(await sink.prepare()).toEqual({ kind: 'stored', expired: 0 })
    keep = async (events) => expect(await sink.write(events)).toEqual({ kind: 'stored', expired: 0 })
  })
  afterAll(async () => {
    await store.close()
    await leave()
  })

  test('exceptions come newest first, page by page, each once', async () => {
    const texts = Array.from({ length: 11 }, (_, i) => `fault ${i % 2}`)
    const events = texts.map((text, i) => exception('pages', i * 1000, text, { meta: i % 3 === 0 ? 'eu' : '' }))
    await keep(events)
    await keep(events)
    const expected = events
      .map(({ process, meta, exception, stamp }) => ({
        atNs: BigInt(stamp.us) * 1000n,
        process,
        meta,
        uid: '',
        exception,
        fingerprint: fingerprint(exception),
        place: { ns: BigInt(stamp.us) * 1000n, tie: expect.any(String) },
      }))
      .reverse()
    expect(await store.source.findExceptions(all('pages'), { limit: 100 })).toEqual(expected)

    expect(await pageThrough((page) => store.source.findExceptions(all('pages'), page), 4)).toEqual(expected)

    const eu = await store.source.findExceptions({ ...all('pages'), meta: 'eu' }, { limit: 100 })
    expect(eu).toEqual(expected.filter(({ meta }) => meta === 'eu'))
    const without = await store.source.findExceptions({ ...all('pages'), meta: '', process: 'p' }, { limit: 100 })
    expect(without).toEqual(expected.filter(({ meta }) => meta === ''))
    const same = fingerprint('fault 1')
    expect(await store.source.findExceptions({ ...all('pages'), fingerprint: same }, { limit: 100 })).toEqual(
      expected.filter((row) => row.fingerprint === same),
    )
  })

  test('pages of exceptions with one time skip and repeat none', async () => {
    const events = Array.from({ length: 40 }, (_, i): Exception => {
      const event = exception('ties', 7, `fault ${i}`, { process: `p${i % 3}`, meta: i % 2 === 0 ? 'eu' : '' })
      return { ...event, stamp: ownStamp(event.stamp.us, contentOf(event)) }
    })
    await keep([...events, exception('ties', 8, 'later'), exception('ties', 6, 'before')])
    const find = (page: Page) => store.source.findExceptions(all('ties'), page)
    const whole = await find({ limit: 100 })
    expect(new Set(whole.map((row) => row.exception)).size).toBe(42)
    for (const limit of [1, 7]) expect(await pageThrough(find, limit)).toEqual(whole)
  })

  test('an arbitrary cursor is some place of its time', async () => {
    await keep([exception('forged', 0, 'a'), exception('forged', 1, 'b')])
    for (const tie of ['', '[]', '["1"]', '["x","y"]', '["1","99999999999999999999999"]', "'; DROP TABLE", '{}'])
      expect(
        (await store.source.findExceptions(all('forged'), { limit: 9, after: { ns: NS + 1000n, tie } })).length,
      ).toBeGreaterThanOrEqual(1)
  })

  test('exceptions are selected by uid, and moments by process and meta', async () => {
    await keep([
      exception('uids', 0, 'a', { uid: 'r1' }),
      exception('uids', 1, 'b', { uid: 'r2', meta: 'eu' }),
      exception('uids', 2, 'c'),
      exception('uids', 3, 'd', { process: 'q', uid: 'r1' }),
      exception('uids', 4, 'e', { meta: 'eu' }),
    ])
    const texts = async (uid: string) =>
      (await store.source.findExceptions({ ...all('uids'), uid }, { limit: 10 })).map((row) => row.exception)
    expect(await texts('r1')).toEqual(['d', 'a'])
    expect(await texts('')).toEqual(['e', 'c'])
    const hostile = { process: 'it\'s \\ ["x"]', meta: '{}' }
    const moments = async (subjects: { process: string; meta: string }[], limitEach = 10, limit = 10) =>
      (await store.source.findMoments({ ...all('uids'), subjects, limitEach, limit })).map(
        ({ atNs, process, meta, uid }) => `${atNs - NS} ${process} ${meta} ${uid}`,
      )
    expect(await moments([{ process: 'p', meta: '' }, hostile])).toEqual(['2000 p  ', '0 p  r1'])
    expect(
      await moments([
        { process: 'p', meta: 'eu' },
        { process: 'q', meta: '' },
      ]),
    ).toEqual(['4000 p eu ', '3000 q  r1', '1000 p eu r2'])
    const both = [
      { process: 'p', meta: '' },
      { process: 'p', meta: 'eu' },
    ]
    expect(await moments(both, 1)).toEqual(['4000 p eu ', '2000 p  '])
    expect(await moments(both, 10, 3)).toHaveLength(3)
    expect(await moments([])).toEqual([])
  })

  test.each([{ process: 'p' }, { meta: 'eu' }, { uid: 'r1' }])(
    'a completed run with an exception is trouble of %j',
    async (of) => {
      const where = { process: 'p', meta: 'eu' }
      await keep([
        { ...start('trouble', 0, where), uid: 'r1' },
        { ...start('trouble', 2, where), kind: 'end', uid: 'r1' },
        exception('trouble', 1, 'a', where),
      ])
      const q = { ...all('trouble'), ...of, maxRunNs: MINUTE_NS, nowNs: NS + MINUTE_NS }
      const { timings } = await findTrouble({ points: store.source, exceptions: store.source }, q, { limit: 10 })
      expect(timings.map(({ state }) => state)).toEqual(['completed'])
    },
  )

  test('a range includes its start and excludes its end', async () => {
    await keep([exception('range', 0, 'a'), exception('range', 1, 'b'), exception('range', 2, 'c')])
    const q = { account: 'range', fromNs: NS, toNs: NS + 2000n }
    const found = await store.source.findExceptions(q, { limit: 10 })
    expect(found.map((row) => row.exception)).toEqual(['b', 'a'])
    expect(await store.source.findExceptions({ ...q, fromNs: NS + 1n }, { limit: 10 })).toHaveLength(1)
  })

  test('a range beyond what a store can hold is not an error', async () => {
    await keep([exception('ever', 0, 'a'), start('ever', 0), metrics('ever', 0, [['m', 1]])])
    const ever = { account: 'ever', fromNs: -(10n ** 30n), toNs: 10n ** 30n }
    const timings = { ...ever, maxRunNs: 86_400_000_000_000n, nowNs: NS + 1n }
    expect(await store.source.findExceptions(ever, { limit: 10 })).toHaveLength(1)
    expect(await store.source.findMetrics(ever, { limit: 10 })).toHaveLength(1)
    expect(await store.source.findTimings(timings, { limit: 10 })).toHaveLength(1)
    expect(await store.source.countMarks(ever)).toBe(1)
    expect(await store.source.boundMarks!({ account: 'ever' })).toBeGreaterThanOrEqual(1)
  })

  test('exceptions are grouped by process and fingerprint, the most recent first, with their newest text', async () => {
    await keep([
      exception('groups', 0, 'same', { uid: 'u' }),
      exception('groups', 3_000_000, 'same', { meta: 'eu', uid: 'u' }),
      exception('groups', 1_000_000, 'other'),
      exception('groups', 2_000_000, 'same', { process: 'q' }),
    ])
    const group = (process: string, text: string, count: number, firstUs: number, lastUs: number) => ({
      fingerprint: fingerprint(text),
      process,
      count,
      runs: count === 2 ? 2 : 0, // only these have a uid
      firstNs: NS + BigInt(firstUs) * 1000n,
      lastNs: NS + BigInt(lastUs) * 1000n,
      example: text,
      meta: lastUs === 3_000_000 ? 'eu' : '',
      place: { ns: NS + BigInt(lastUs) * 1000n, tie: `${fingerprint(text)}\0${process}` },
    })
    const expected = [
      group('p', 'same', 2, 0, 3_000_000),
      group('q', 'same', 1, 2_000_000, 2_000_000),
      group('p', 'other', 1, 1_000_000, 1_000_000),
    ]
    expect(await store.source.groupExceptions(all('groups'), { limit: 10 })).toEqual(expected)
    expect(await store.source.groupExceptions(all('groups'), { limit: 2 })).toEqual(expected.slice(0, 2))
    for (const [i, { place }] of expected.entries())
      expect(await store.source.groupExceptions(all('groups'), { limit: 10, after: place })).toEqual(
        expected.slice(i + 1),
      )
    const q = { ...all('groups'), fingerprint: fingerprint('same') }
    expect(await store.source.groupExceptions(q, { limit: 10 })).toEqual(expected.slice(0, 2))

    const second = 1_000_000_000n
    const bucket = (s: bigint, count: number) => ({ atNs: NS + s * second, count })
    const series = await store.source.groupExceptions({ ...q, everyNs: second }, { limit: 10 })
    expect(series).toEqual([
      { ...expected[0]!, counts: [bucket(0n, 1), bucket(3n, 1)] },
      { ...expected[1]!, counts: [bucket(2n, 1)] },
    ])
    const bounds = [NS - (NS % second), NS - (NS % second) + 2n * second, NS + 60n * MINUTE_NS]
    const uneven = await store.source.groupExceptions({ ...q, process: 'p', bounds }, { limit: 10 })
    expect(uneven.map(({ counts }) => counts)).toEqual([
      [
        { atNs: bounds[0]!, count: 1 },
        { atNs: bounds[1]!, count: 1 },
      ],
    ])
    const minutes = await store.source.groupExceptions({ ...q, process: 'p', everyNs: MINUTE_NS }, { limit: 10 })
    expect(minutes.map(({ counts }) => counts)).toEqual([[{ atNs: NS - (NS % MINUTE_NS), count: 2 }]])
  })

  test('a list carries both ends of a long text, a question about one group the whole', async () => {
    const frames = Array.from({ length: 500 }, (_, i) => `  File "/srv/größe${i}.py", line ${i}, in step`)
    const long = ['Traceback (most recent call last):', ...frames, 'ValueError: ä'].join('\n')
    const whole = ['é'.repeat(2000), 'x'.repeat(4000)]
    await keep([long, ...whole].map((text, i) => exception('long', 2 - i, text)))
    const groups = await store.source.groupExceptions({ ...all('long'), everyNs: MINUTE_NS }, { limit: 10 })
    const [example, ...others] = groups.map((group) => group.example)
    expect(others).toEqual(whole)
    const [head, tail] = example!.split('\n  …\n')
    expect([head, long.endsWith(`\n${tail}`)]).toEqual([long.slice(0, 2000), true])
    expect(tail!.length).toBeWithin(1900, 2001)
    expect(headlineOf(example!)).toBe('ValueError: ä')
    const q = { ...all('long'), fingerprint: fingerprint(long) }
    expect((await store.source.groupExceptions(q, { limit: 10 })).map((group) => group.example)).toEqual([long])
  })

  test('a search finds texts that contain every word literally, in any case', async () => {
    const texts = ['Error: 100% of C:\\tmp\\x', 'error: 100 of c:/tmp', "O'Reilly .* [x] \0 _", 'ÄRGER mit 😀 DISK', '']
    await keep(texts.map((text, i) => exception('search', i, text)))
    const search = async (...words: string[]) =>
      (await store.source.findExceptions({ ...all('search'), words }, { limit: 10 })).map((row) => row.exception)
    const rows: [words: string[], found: number[]][] = [
      [[], [4, 3, 2, 1, 0]],
      [['ERROR'], [1, 0]],
      [
        ['of', 'error'],
        [1, 0],
      ],
      [['100%'], [0]],
      [['c:\\TMP\\'], [0]],
      [["o'reilly"], [2]],
      [['.*'], [2]],
      [['_'], [2]],
      [['\0'], [2]],
      [['ärger', '😀 disk'], [3]],
      [["') OR 1=1 --"], []],
      [['{word_0:String}'], []],
    ]
    for (const [words, found] of rows)
      expect([words, await search(...words)]).toEqual([words, found.map((i) => texts[i]!)])
    const groups = await store.source.groupExceptions({ ...all('search'), words: ['error'] }, { limit: 10 })
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(2)
  })

  test('groups are chosen and left out by fingerprint and process, ten thousand too', async () => {
    const odd = 'pé😀" \\ \t'
    await keep([
      exception('chosen', 0, 'same'),
      exception('chosen', 5_000_000, 'same'),
      exception('chosen', 5_000_000, 'same'),
      exception('chosen', 1_000_000, 'same', { process: odd }),
      exception('chosen', 2_000_000, 'other'),
    ])
    const key = (text: string, process = 'p') => ({ fingerprint: fingerprint(text), process })
    const many = Array.from({ length: 10_000 }, (_, i) => ({ fingerprint: `v4:${i}`, process: 'pü' }))
    const q = all('chosen')
    const groups = async (more: object) =>
      (await store.source.groupExceptions({ ...q, ...more }, { limit: 10 })).map(({ fingerprint, process }) => ({
        fingerprint,
        process,
      }))
    expect(await groups({ only: [key('same', odd)] })).toEqual([key('same', odd)])
    expect(await groups({ only: [] })).toEqual([])
    expect(await groups({ without: [key('same', odd), ...many] })).toEqual([key('same'), key('other')])
    expect(await groups({ only: [...many, key('same')], without: [key('other')] })).toEqual([key('same')])
    const spans = await store.source.findGroupSpans({ ...q, only: [key('same'), ...many] })
    expect(spans).toEqual([{ ...key('same'), firstNs: NS, lastNs: NS + 5_000_000_000n }])
    expect(await store.source.findGroupSpans({ ...q, only: [] })).toEqual([])
    const moments = { ...q, subjects: [{ process: 'p', meta: '' }], limitEach: 9, limit: 9, without: [key('same')] }
    expect((await store.source.findMoments(moments)).map(({ atNs }) => atNs)).toEqual([NS + 2_000_000_000n])
  })

  test('groups of one time come by fingerprint and process, and a place parts them', async () => {
    const texts = ['disk full', 'no route', 'bad token', 'out of memory']
    await keep(
      ['p', 'p x', 'p "', 'pé😀'].flatMap((process) =>
        texts.map((text, i) => ({ ...exception('equal', 0, text, { process }), stamp: stamp(0, 4 * i) })),
      ),
    )
    const whole = await store.source.groupExceptions(all('equal'), { limit: 100 })
    expect(whole).toHaveLength(16)
    expect(whole).toEqual(whole.toSorted((a, b) => comparePlaces(a.place, b.place)))
    for (const [i, { place }] of whole.entries())
      expect(await store.source.groupExceptions(all('equal'), { limit: 2, after: place })).toEqual(
        whole.slice(i + 1, i + 3),
      )
    const strange = { ns: NS, tie: "'; DROP" }
    expect(await store.source.groupExceptions(all('equal'), { limit: 100, after: strange })).toEqual(whole)
  })

  test('a sum beyond all doubles is infinite, not nothing', async () => {
    await keep([metrics('huge', 0, [['m', 1.5e308]]), metrics('huge', 1, [['m', 1.5e308]])])
    const [row] = await store.source.aggregateMetrics({ ...all('huge'), everyNs: MINUTE_NS })
    expect([row!.sum, row!.max]).toEqual([Number.POSITIVE_INFINITY, 1.5e308])
  })

  test('processes with exceptions are listed with their metas and their last event', async () => {
    await keep([
      start('processes', 1000, { process: 'b' }),
      exception('processes', 4000, 'x', { process: 'a', meta: 'x' }),
    ])
    expect(await store.source.findExceptionProcesses(all('processes'))).toEqual([
      { process: 'a', metas: ['x'], kinds: ['exception'], lastNs: NS + 4_000_000n },
    ])
  })

  test('questions see only their own account, whatever the values contain', async () => {
    const nasty = `' OR 1=1 -- \\' {x:String} "\``
    await keep([exception('mine', 0, 'a', { process: nasty, meta: nasty }), exception(nasty, 0, 'b')])
    const q = { ...all('mine'), process: nasty, meta: nasty }
    expect((await store.source.findExceptions(q, { limit: 10 })).map((row) => row.exception)).toEqual(['a'])
    expect((await store.source.findExceptions(all(nasty), { limit: 10 })).map((row) => row.exception)).toEqual(['b'])
    expect(await store.source.findExceptions({ ...all('nobody'), process: nasty }, { limit: 10 })).toEqual([])
    expect(await store.source.findPointProcesses(all('nobody'))).toEqual([])
  })

  test('accepts names of the maximum length', async () => {
    const process = '😀'.repeat(250)
    const meta = 'ö%&='.repeat(125)
    await keep([exception('long', 0, 'a', { process, meta })])
    expect(await store.source.findExceptions({ ...all('long'), process, meta }, { limit: 10 })).toHaveLength(1)
  })
})

describe.skipIf(engineMissing !== undefined)('a question that fails', () => {
  test('throws StoreError without the password if the store is unreachable, not ClickHouse, or has no tables', async () => {
    const { address, leave } = await placeRemote()
    const places = [
      { ...address, url: 'http://127.0.0.1:1' },
      { ...address, password: 'wrong-password' },
      address, // not prepared
    ]
    for (const place of places) {
      const store = await openStore(place)
      const error = await store.source.findExceptions(all('a'), { limit: 1 }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(StoreError)
      expect(Bun.inspect(error)).not.toContain(address.password)
      expect(Bun.inspect(error)).not.toContain('wrong-password')
      await store.close()
    }
    await leave()
  })

  test('is bounded in time and memory by the engine', async () => {
    const { address, statements, leave } = await placeRemote()
    const store = await openStore(address)
    await store.createSink().prepare()
    const before = statements.length
    const q = { ...all('a'), maxRunNs: 1n, nowNs: NS }
    await store.source.summarizeTimings({ ...q, byMeta: true, everyNs: MINUTE_NS })
    await store.source.aggregateMetrics({ ...q, everyNs: MINUTE_NS })
    await store.source.groupExceptions(q, { limit: 1 })
    await store.source.findPointProcesses(q)
    const asked = statements.slice(before)
    expect(asked).toHaveLength(4)
    for (const sql of asked) {
      const settings = sql.slice(sql.lastIndexOf('SETTINGS '))
      expect(settings).toContain('max_execution_time = 30')
      expect(settings).toMatch(/max_memory_usage = \d+/)
    }
    await store.close()
    await leave()
  })
})
