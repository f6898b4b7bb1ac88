// What every sink must do, whatever stands behind it. Each implementation runs this suite with a factory of its own;
// a suite that only one store passes would describe the store, not the contract.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  type Event,
  type EventKind,
  type Exception,
  type Mark,
  type MarkName,
  type Metrics,
  markName,
  type Text,
} from '../../src/event/event.ts'
import { contentOf, ownStamp } from '../../src/event/identity.ts'
import { formatStampNs, type Stamp } from '../../src/event/stamp.ts'
import type { Sink } from '../../src/store/sink.ts'

/** One point or row as a query sees it. `ns` is the stamp as a decimal string of nanoseconds. */
export type StoredRow =
  | { kind: MarkName; ns: string; process: string; meta: string; uid: string }
  | { kind: 'metric'; ns: string; process: string; meta: string; uid: string; name: string; value: number }
  | { kind: 'exception'; ns: string; process: string; meta: string; uid: string; exception: string }
  | { kind: 'output'; ns: string; process: string; meta: string; uid: string; output: string }

/** A sink on a store (bucket, database, …) of its own that holds nothing yet and has not been prepared. */
export interface SinkTrial {
  readonly sink: Sink
  /** Another sink on the same store. */
  another(): Sink
  /** Everything the account has in the store, in any order, as the store's ordinary queries see it (views, FINAL). */
  read(account: string): Promise<StoredRow[]>
  /** The same kind of sink at an address where nothing listens. Absent where there is no address (embedded). */
  away?(): Sink
  /** The same store with unknown credentials. Absent for the embedded engine, which has no credentials. */
  stranger?(): Sink
  /** An event which the store will never take however often it is sent. */
  poison(account: string, stamp: Stamp): Event
  close(): Promise<void>
}

export interface SinkSubject {
  readonly name: string
  /** What this sink is for: an InfluxDB takes no exceptions. */
  readonly kinds: readonly EventKind[]
  /** Why the suite cannot run here, when it cannot. */
  readonly skip?: string | undefined
  open(): Promise<SinkTrial>
}

const STORED = { kind: 'stored', expired: 0 } as const
let accounts = 0
/** Each test has an account of its own: opening a store takes longer than a test. */
let account = ''
const NOW_US = 1_795_200_000_000_000

/** The `n`-th stamp of the tests; `sub` = 2·NODE_ID + lane. */
const at = (n: number, sub = 0): Stamp => ({ us: NOW_US + n, sub })

const mark = (n: number, fields: Partial<Mark> = {}): Mark => ({
  kind: 'start',
  account,
  process: 'import',
  meta: 'eu',
  uid: 'run-1',
  stamp: at(n),
  ...fields,
})

const metrics = (n: number, fields: Partial<Metrics> = {}): Metrics => ({
  kind: 'metrics',
  account,
  process: 'import',
  meta: 'eu',
  items: [['rows', 12]],
  stamp: at(n),
  ...fields,
})

const exception = (n: number, fields: Partial<Exception> = {}): Exception => ({
  kind: 'exception',
  account,
  process: 'import',
  meta: 'eu',
  exception: 'Error: it broke',
  stamp: at(n),
  ...fields,
})

const output = (n: number, fields: Partial<Text<'output'>> = {}): Text<'output'> => ({
  kind: 'output',
  account,
  process: 'import',
  meta: 'eu',
  output: '12 rows imported',
  stamp: at(n),
  ...fields,
})

/** What the rules of event/ let through into process, meta and the names of metrics; no store may change a bit of it. */
const HOSTILE_TEXTS = [
  'two words',
  ' leading and trailing ',
  'a,b=c d',
  '==,, ==',
  'back\\slash in\\side',
  '\\, \\= \\  \\n',
  'C:\\jobs\\import.exe',
  '# no comment',
  '-- no comment; DROP TABLE marks',
  '$' + '{r.account} {account:String} $1 ?',
  '$lines$',
  '$',
  '[1]',
  '1e5',
  '`(){}[]<>|&*~^!@/.:;+',
  '“quotes” ‘of’ «books»',
  'żółć 日本語 ру́сский عربى',
  '😀👩‍👩‍👧‍👦🇵🇱',
  'e\u0301 \u200b\u200d\u2028\u2029\ufeff\u0085\u00a0.',
  '\u{10ffff}\uffff',
  'null',
  'NaN',
  'true',
  '0',
  'long '.repeat(49).trim(),
]

const HOSTILE_EXCEPTIONS = [
  '',
  ' ',
  'Error: it broke\n    at run (/srv/app.ts:12:3)\n\tat more\r\n',
  'a NUL \0 in it, and \u0001\u001f\u007f\u009f',
  `quotes ' " \` and '' "" \\' \\"`,
  'backslashes \\ \\\\ \\n \\',
  '100 % {"json": [1, null]} {account:String}',
  '\t\t\n\n',
  '“日本語” 😀 \u2028 \ufeff \u{10ffff}',
  'x'.repeat(15_000),
  '😀\n'.repeat(7_500),
]

const FLOATS = [
  0,
  -0,
  1,
  -1,
  42,
  0.1,
  -0.30000000000000004,
  1e-7,
  1e21,
  1e300,
  -1e300,
  5e-324,
  2.2250738585072014e-308,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER,
  2 ** 53 + 2,
  2 ** 63,
  -(2 ** 63),
  123456789.12345678,
]

/** The rows that the events should have become. */
const rowsOf = (events: readonly Event[]): StoredRow[] => events.flatMap(rowsOfOne)

function rowsOfOne(event: Event): StoredRow[] {
  const { process, meta } = event
  const common = { ns: formatStampNs(event.stamp), process, meta }
  switch (event.kind) {
    case 'start':
    case 'end':
      return [{ kind: markName(event), ...common, uid: event.uid }]
    case 'metrics':
      // no store need tell −0 from 0: JSON, in which events travel, does not
      return event.items.map(([name, value]) => ({
        kind: 'metric',
        ...common,
        uid: event.uid ?? '',
        name,
        value: value + 0,
      }))
    case 'exception':
      return [{ kind: 'exception', ...common, uid: event.uid ?? '', exception: event.exception }]
    case 'output':
      return [{ kind: 'output', ...common, uid: event.uid ?? '', output: event.output }]
  }
}

/** No two events ever share a stamp. */
const withOwnStamps = (events: readonly Event[]): Event[] => events.map((event, i) => ({ ...event, stamp: at(i) }))

const sorted = (rows: readonly StoredRow[]): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))).sort()

export function sinkContract(subject: SinkSubject): void {
  const takes = (kind: EventKind) => subject.kinds.includes(kind)
  /** Events of every kind that this sink takes. */
  const someOf = (n: number, fields: { account?: string } = {}): Event[] => [
    ...(takes('start') ? [mark(n, fields), mark(n + 1, { kind: 'end', ...fields })] : []),
    ...(takes('metrics') ? [metrics(n + 2, fields)] : []),
    ...(takes('exception') ? [exception(n + 3, fields)] : []),
    ...(takes('output') ? [output(n + 3, fields)] : []),
  ]

  let trial: SinkTrial
  /** The account has the rows of these events and no others. */
  const expectStored = async (events: readonly Event[], of = account) =>
    expect(sorted(await trial.read(of))).toEqual(sorted(rowsOf(events)))

  /** Writes the events and expects to read back just them. */
  const roundTrip = async (events: readonly Event[]) => {
    expect(await trial.sink.write(events)).toEqual(STORED)
    await expectStored(events)
  }

  describe.skipIf(subject.skip !== undefined)(`${subject.name} fulfils the contract of a sink:`, () => {
    beforeAll(async () => {
      trial = await subject.open()
      expect(await trial.sink.prepare()).toEqual(STORED)
    })
    beforeEach(() => {
      account = `account-${++accounts}`
    })
    afterAll(() => trial?.close())

    test('reads back what was stored', () => roundTrip(someOf(0)))

    test('stores an empty batch', async () => {
      const { sink, read } = trial
      expect(await sink.write([])).toEqual(STORED)
      expect(await read(account)).toEqual([])
    })

    test.each<[string, (events: Event[]) => Event[][]]>([
      ['repeated batches', (events) => [events, events]],
      ['a batch that repeats them', (events) => [[...events, ...events]]],
      ['overlapping batches', (events) => [events.slice(0, -2), events.slice(2)]],
    ])('stores the events of %s once', async (_, batchesOf) => {
      const { sink, another } = trial
      const events = [...someOf(0), ...someOf(10), ...someOf(20)]
      for (const each of [sink, another()])
        for (const batch of batchesOf(events)) expect(await each.write(batch)).toEqual(STORED)
      await expectStored(events)
    })

    test('separates accounts', async () => {
      const { sink } = trial
      const [own, foreign] = [someOf(0), someOf(0, { account: `${account} of another` })]
      expect(await sink.write([...own, ...foreign])).toEqual(STORED)
      await expectStored(own)
      await expectStored(foreign, `${account} of another`)
    })

    test('stamps keep the digits of node and lane', () =>
      roundTrip(
        [0, 1, 2, 3, 498, 499, 998, 999].flatMap((sub, i) =>
          someOf(i * 10).map((event) => ({ ...event, stamp: { ...event.stamp, sub } })),
        ),
      ))

    test('events of one series a nanosecond apart stay distinct', () =>
      roundTrip([0, 1, 2].flatMap((sub) => someOf(0).map((event) => ({ ...event, stamp: { ...event.stamp, sub } })))))

    test('different events with the same own time stay distinct, equal ones are one', async () => {
      const own = (event: Event, atUs: number): Event => ({ ...event, stamp: ownStamp(atUs, contentOf(event)) })
      const different = ['import', 'export'].flatMap((process) => someOf(0).map((event) => ({ ...event, process })))
      const at = [NOW_US - (NOW_US % 1_000_000), NOW_US - (NOW_US % 1_000_000) + 7]
      const events = at.flatMap((atUs) => different.map((event) => own(event, atUs)))
      const { sink } = trial
      expect(await sink.write([...events, ...events])).toEqual(STORED)
      expect(await sink.write(events)).toEqual(STORED)
      await expectStored(events)
    })

    test('an event of a kind that this version does not know is not reported as stored', async () => {
      const { sink, read } = trial
      const unknown = { ...someOf(0)[0]!, kind: 'something new' } as unknown as Event
      const answer = await sink.write([unknown]).catch((error: Error) => error)
      expect(answer).not.toMatchObject({ kind: 'stored' })
      expect(await read(account)).toEqual([])
    })

    test('stores stamps far apart in one batch', () => {
      const DAY_US = 86_400_000_000
      return roundTrip(
        [0, 1, 31, 62].flatMap((days) =>
          someOf(0).map((event) => ({ ...event, stamp: { us: event.stamp.us - days * DAY_US, sub: 0 } })),
        ),
      )
    })

    test('process and meta keep every character', () =>
      roundTrip(
        withOwnStamps(
          HOSTILE_TEXTS.flatMap((text) =>
            someOf(0).flatMap((event) => [
              { ...event, process: text },
              { ...event, meta: text },
            ]),
          ),
        ),
      ))

    test('distinguishes series with and without meta', () =>
      roundTrip(withOwnStamps([...someOf(0).map((event) => ({ ...event, meta: '' })), ...someOf(0)])))

    if (takes('start'))
      describe('marks', () => {
        test('without a uid and with one, in one batch', () =>
          roundTrip(['a', 'a', '', 'b', '', '0', '-_-', 'f'.repeat(50), ''].map((uid, i) => mark(i, { uid }))))

        test('a start, an end and a failed end', () =>
          roundTrip([
            mark(0),
            mark(1, { kind: 'end' }),
            mark(2, { kind: 'end', uid: '' }),
            mark(3, { kind: 'end', failed: true }),
            mark(4, { kind: 'end', failed: true, uid: '' }),
          ]))

        test('an end and a failed end of one time stay distinct', () =>
          roundTrip(
            [mark(0, { kind: 'end' }), mark(0, { kind: 'end', failed: true })].map((event) => ({
              ...event,
              stamp: ownStamp(NOW_US + 7, contentOf(event)),
            })),
          ))
      })

    if (takes('metrics'))
      describe('metrics', () => {
        test('with and without a uid, in one series', () =>
          roundTrip([metrics(0, { uid: 'run-1' }), metrics(1), metrics(2, { uid: 'run-2' }), metrics(3)]))

        test('fifty that share a stamp', () =>
          roundTrip([metrics(0, { items: Array.from({ length: 50 }, (_, i) => [`metric ${i}`, i / 7]) })]))

        test('every float comes back to the last bit', () =>
          roundTrip(FLOATS.map((value, i) => metrics(i, { items: [['value', value]] }))))

        test('names keep every character', () =>
          roundTrip(HOSTILE_TEXTS.map((name, i) => metrics(i, { items: [[name, i]] }))))

        test('names with a meaning in the store', () => {
          const names = 'time _time _value _field value name account process meta at mark uid'.split(' ')
          return roundTrip([metrics(0, { items: names.map((name, i) => [name, i + 0.5]) })])
        })
      })

    if (takes('exception'))
      describe('exceptions', () => {
        test('with and without a uid', () => roundTrip([exception(0, { uid: 'run-1' }), exception(1)]))

        test('texts keep every character', () =>
          roundTrip(HOSTILE_EXCEPTIONS.map((text, i) => exception(i, { exception: text }))))
      })

    if (takes('output'))
      describe('outputs', () => {
        test('with and without a uid', () => roundTrip([output(0, { uid: 'run-1' }), output(1)]))

        test('texts keep every character', () =>
          roundTrip(HOSTILE_EXCEPTIONS.map((text, i) => output(i, { output: text }))))
      })

    test('stores a large batch completely', () => {
      const one = someOf(0)
      return roundTrip(Array.from({ length: 2_000 }, (_, i) => ({ ...one[i % one.length]!, stamp: at(i) })))
    })

    test('refuses poison anywhere in a batch, and the other events can be written', async () => {
      const { sink, poison } = trial
      const events = [...someOf(0), ...someOf(10)]
      const bad = poison(account, at(5))
      for (const batch of [[...events.slice(0, 2), bad, ...events.slice(2)], [bad], [bad, events[0]!]]) {
        const result = await sink.write(batch)
        expect(result.kind).toBe('refused')
      }
      expect(await sink.write(events)).toEqual(STORED)
      await expectStored(events)
    })

    test('reasons are short and contain nothing that was sent', async () => {
      const { sink, poison } = trial
      const bad = poison(account, at(5))
      const secret = 'what-the-caller-sent'
      const neighbour = { ...bad, process: secret, meta: secret, stamp: at(6) }
      const result = await sink.write([neighbour, { ...bad, process: secret + bad.process }])
      if (result.kind === 'stored') throw new Error('poison was stored')
      expect(result.reason.length).toBeLessThan(600)
      expect(result.reason).not.toContain(secret)
    })

    test('stores a check event of the same kind while poison is refused; no account sees it', async () => {
      const { sink, read, poison } = trial
      expect(await sink.write([poison(account, at(5))])).toMatchObject({ kind: 'refused' })
      for (const like of someOf(0)) expect(await sink.check(like)).toEqual(STORED)
      expect(await read(account)).toEqual([])
    })

    test('stores concurrent writes', async () => {
      const { sink, another } = trial
      const batches = Array.from({ length: 6 }, (_, i) => someOf(i * 10))
      const other = another()
      const results = await Promise.all(batches.map((batch, i) => (i % 2 === 0 ? sink : other).write(batch)))
      expect(results).toEqual(batches.map(() => STORED))
      await expectStored(batches.flat())
    })

    // In a store of its own: erasing rewrites all that is there.
    test('preparing again changes nothing; erases accounts permanently and no other', async () => {
      const { sink, another, read, close } = await subject.open()
      expect(await Promise.all([sink.prepare(), another().prepare()])).toEqual([STORED, STORED])
      const [second, other] = [`${account}'s "second`, `${account} of another`]
      const [own, foreign] = [someOf(0), someOf(0, { account: other })]
      expect(await sink.write([...own, ...foreign, ...someOf(0, { account: second })])).toEqual(STORED)
      expect(await another().prepare()).toEqual(STORED)
      expect(sorted(await read(account))).toEqual(sorted(rowsOf(own)))
      for (let time = 0; time < 2; time++) expect(await sink.erase([account, 'nobody', second])).toEqual(STORED)
      for (const erased of [account, second]) expect(await read(erased)).toEqual([])
      expect(sorted(await read(other))).toEqual(sorted(rowsOf(foreign)))
      await close()
    })

    test.each([
      ['retries every operation of an unreachable store', 'retry', () => trial.away?.()],
      ['waits for the operator when the store rejects the credentials', 'wait', () => trial.stranger?.()],
    ] as const)('%s', async (_, kind, open) => {
      const sink = open()
      if (sink === undefined) return
      const [event] = someOf(0)
      for (const answer of [sink.write(someOf(0)), sink.prepare(), sink.check(event!), sink.erase([account])])
        expect(await answer).toMatchObject({ kind })
      await sink.close()
      expect(await trial.read(account)).toEqual([])
    })
  })
}
