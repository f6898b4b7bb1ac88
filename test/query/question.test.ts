import { describe, expect, test } from 'bun:test'
import { Problem } from '../../src/problem.ts'
import { readersOf } from '../../src/query/parameters.ts'
import { parseQuestion, QUESTION_ROUTES, type QuestionKind } from '../../src/query/question.ts'
import { parametersOf } from '../../src/wire/route.ts'

const S = 1_000_000_000n
const NOW = 1_763_673_600n * S // 2025-11-20T21:20:00Z

const ask = (query: string, kind: QuestionKind = 'timings') => parseQuestion(kind, new URLSearchParams(query), NOW)

/** The faults of a question, `pointer detail`. */
function faults(query: string, kind?: QuestionKind): string[] {
  try {
    ask(query, kind)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    expect(error.code).toBe('question_invalid')
    return error.errors!.map(({ pointer, detail }) => `${pointer} ${detail}`)
  }
  return []
}
const pointers = (query: string, kind?: QuestionKind) => faults(query, kind).map((fault) => fault.split(' ')[0])

describe('the range', () => {
  test('is the last hour by default', () => {
    expect(ask('')).toMatchObject({ fromNs: NOW - 3600n * S, toNs: NOW, nowNs: NOW, limit: 100, byMeta: false })
  })

  test('may be RFC 3339 to the nanosecond, with any offset', () => {
    const { fromNs, toNs } = ask('from=2025-11-20T20:00:00.123456789Z&to=2025-11-20T22:00:00.5%2B01:30')
    expect(fromNs).toBe(1_763_668_800_123_456_789n)
    expect(toNs).toBe(1_763_670_600_500_000_000n)
  })

  test('may have the + of an offset unescaped', () => {
    expect(ask('from=2025-11-20T20:00:00+01:30').fromNs).toBe(ask('from=2025-11-20T20:00:00%2B01:30').fromNs)
    expect(pointers('from=2025-11-20+20:00:00Z')).toEqual(['/from'])
  })

  test('either end may be relative to now', () => {
    expect(ask('from=-90m&to=-30m')).toMatchObject({ fromNs: NOW - 5400n * S, toNs: NOW - 1800n * S })
  })

  test('is limited to what a store can hold, and never empty', () => {
    expect(ask('from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')).toMatchObject({
      fromNs: 0n,
      toNs: 8_993_721_600_000_000_000n,
    })
    expect(ask('from=1900-01-01T00:00:00Z&to=1900-01-02T00:00:00Z')).toMatchObject({ fromNs: 0n, toNs: 1n })
    const { fromNs, toNs } = ask('from=2500-01-01T00:00:00Z&to=2600-01-01T00:00:00Z')
    expect(toNs - fromNs).toBe(1n)
    expect(ask('from=-9999999999w').fromNs).toBe(0n)
  })

  test('must not be empty or backwards', () => {
    const at = '2025-11-20T21:00:00Z'
    expect(pointers(`from=${at}&to=${at}`)).toEqual(['/from'])
    expect(pointers('from=-1m&to=-2m')).toEqual(['/from'])
    expect(pointers('to=-2h')).toEqual(['/from'])
    expect(pointers('from=2025-11-20T21:20:00Z')).toEqual(['/from'])
  })
})

describe('filters', () => {
  test('are stripped like the fields they filter', () => {
    expect(ask(`process=${encodeURIComponent('it\'s "100%"\\')}&meta=${encodeURIComponent("'eu'\n")}`)).toMatchObject({
      process: 'its 100',
      meta: 'eu',
    })
  })

  test('say "without" when they are empty, and "any" when they are absent', () => {
    expect(ask('meta=&uid=')).toMatchObject({ meta: '', uid: '' })
    expect(ask('')).not.toHaveProperty('meta')
    expect(ask('')).not.toHaveProperty('uid')
  })

  test('of each kind are understood', () => {
    expect(ask('state=orphan&uid=a-b_1&limit=1000')).toMatchObject({ state: 'orphan', uid: 'a-b_1', limit: 1000 })
    expect(ask('state=trouble')).toMatchObject({ state: 'trouble' })
    expect(ask('sort=duration')).toMatchObject({ slowest: true, byCount: false })
    expect(ask('sort=count', 'groups')).toMatchObject({ slowest: false, byCount: true })
    expect(ask('uid=', 'exceptions')).toMatchObject({ uid: '' })
    expect(ask('by=meta&every=5m', 'summary')).toMatchObject({ byMeta: true, every: { count: 5, unit: 'm' } })
    expect(ask('name=a%20b&every=1d', 'metrics')).toMatchObject({ name: 'a b', every: { count: 1, unit: 'd' } })
    expect(ask('fingerprint=v1:0123456789abcdef', 'exceptions')).toMatchObject({ fingerprint: 'v1:0123456789abcdef' })
  })
})

describe('several processes', () => {
  test('are one filter, without repetitions and in one order', () => {
    expect(ask('process=b&process=a&process=%27b%27').process).toEqual(['a', 'b'])
    expect(ask('process=b&process=b').process).toBe('b')
    const cursor = ask('process=b&process=a').next([String(NOW), 'tie'])
    expect(pointers(`process=a&process=b&cursor=${cursor}`)).toEqual([])
    expect(pointers(`process=a&cursor=${cursor}`)).toEqual(['/cursor'])
  })

  test('are at most a hundred, and each must be valid', () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => `process=p${i}`).join('&')
    expect(pointers(many(100))).toEqual([])
    for (const n of [101, 2000]) expect(faults(many(n))).toEqual(['/process may be given at most 100 times'])
    expect(pointers('process=a&process=%25&process=')).toEqual(['/process'])
  })
})

test('percentiles are numbers from 0 to 100, each named once', () => {
  expect(ask('percentiles=50,99.9,0,100,05.50', 'summary').percentiles).toEqual([
    { text: '50', quantile: 0.5 },
    { text: '99.9', quantile: 0.999 },
    { text: '0', quantile: 0 },
    { text: '100', quantile: 1 },
    { text: '5.5', quantile: 0.055 },
  ])
  const bad = ['', ',', '50,', '101', '100.001', '-1', '+5', '1e1', 'NaN', 'Infinity', '0x10', '50 ,90', '50.', '.5']
  for (const text of [...bad, '1.2345', '50,50', '50,50.0', Array.from({ length: 11 }, (_, i) => i).join()])
    expect(pointers(`percentiles=${encodeURIComponent(text)}`, 'summary')).toEqual(['/percentiles'])
})

test('a second range ends where the first begins, unless it is said', () => {
  const { fromNs, compare } = ask('from=-1d&compare_from=-8d', 'summary')
  expect(compare).toEqual({ fromNs: NOW - 8n * 86_400n * S, toNs: fromNs })
  expect(ask('compare_from=-8d&compare_to=-7d', 'summary').compare!.toNs).toBe(NOW - 7n * 86_400n * S)
  for (const [query, pointer] of [
    ['compare_from=-30m', '/compare_from'],
    ['compare_from=-8d&compare_to=-9d', '/compare_from'],
    ['compare_from=-8d&compare_to=-8d', '/compare_from'],
    ['compare_to=-8d', '/compare_to'],
    ['compare_from=-8d&every=1h', '/compare_from'],
    ['compare_from=soon', '/compare_from'],
  ] as const)
    expect(pointers(query, 'summary')).toEqual([pointer])
})

describe('a question is refused with a pointer to', () => {
  test.each([
    ['from=', '/from'],
    ['from=yesterday', '/from'],
    ['from=2025-02-30T00:00:00Z', '/from'],
    ['to=2025-11-20T21:20:60Z', '/to'],
    ['to=2025-11-20T21:20:00.1234567891Z', '/to'],
    ['process=', '/process'],
    [`process=${'p'.repeat(251)}`, '/process'],
    [`meta=${'m'.repeat(501)}`, '/meta'],
    ['state=done', '/state'],
    ['state=Running', '/state'],
    ['limit=0', '/limit'],
    ['limit=1001', '/limit'],
    ['limit=1e2', '/limit'],
    ['cursor=nonsense', '/cursor'],
    ['sort=Duration', '/sort'],
    ['sort=duration&state=running', '/sort'],
    ['sort=duration&state=trouble', '/sort'],
    ['metric=', '/metric'],
    ['metric=it%27s', '/metric'],
    [Array.from({ length: 11 }, (_, i) => `metric=m${i}`).join('&'), '/metric'],
    ['percentiles=50', '/percentiles'],
    ['state=running&state=orphan', '/state'],
    ['state=running&state=running', '/state'],
    ['Process=p', '/Process'],
    ['name=x', '/name'],
    ['a%2Fb~=1', '/a~1b~0'],
    ['=1', '/'],
  ])('%s', (query, pointer) => expect(pointers(query)).toEqual([pointer]))

  test.each([
    ['summary', 'by=process', '/by'],
    ['summary', 'every=0s', '/every'],
    ['summary', 'every=1y', '/every'],
    ['summary', 'every=1d&tz=Mars/Olympus', '/tz'],
    ['summary', 'tz=Europe/Berlin', '/tz'],
    ['summary', 'every=36h&tz=Europe/Berlin', '/every'],
    ['summary', 'every=1441m&tz=Europe/Berlin', '/every'],
    ['timings', 'tz=UTC', '/tz'],
    ['summary', 'limit=5', '/limit'],
    ['metrics', 'name=', '/name'],
    ['metrics', 'name=it%27s', '/name'],
    ['summary', 'state=failed', '/state'],
    ['metrics', 'every=1m&limit=5', '/limit'],
    ['metrics', 'by=meta', '/by'],
    ['metrics', 'metric=a', '/metric'],
    ['summary', 'sort=duration', '/sort'],
    ['exceptions', 'fingerprint=abc', '/fingerprint'],
    ['groups', 'cursor=x', '/cursor'],
    ['groups', 'sort=duration', '/sort'],
    ['timings', 'sort=count', '/sort'],
    ['series', 'from=-1h', '/from'],
    ['dead', 'process=p', '/process'],
  ] as const)('%s: %s', (kind, query, pointer) => expect(pointers(query, kind)).toEqual([pointer]))

  test('all errors together, without the values sent', () => {
    const query = 'from=secret1&to=secret2&state=secret3&limit=secret4&what=secret5'
    expect(pointers(query)).toEqual(['/from', '/to', '/state', '/limit', '/what'])
    expect(faults(query).join()).not.toContain('secret')
  })

  test('a hundred faults at most', () => {
    expect(faults(Array.from({ length: 3000 }, (_, i) => `x${i}=1`).join('&'))).toHaveLength(100)
  })
})

describe('a cursor', () => {
  const later = NOW + 1000n * S
  const place = [String(NOW - 60n * S), 'tie']
  const next = (query: string, changed: string, at = later, kind: QuestionKind = 'timings') =>
    parseQuestion(kind, new URLSearchParams(`${changed}&cursor=${ask(query, kind).next(place)}`), at)

  test('fixes the range and the moment of the first page', () => {
    expect(next('from=-2h&to=-1m&process=p', 'from=-2h&to=-1m&process=p')).toMatchObject({
      fromNs: NOW - 7200n * S,
      toNs: NOW - 60n * S,
      nowNs: NOW,
      place,
    })
    expect(next('', '')).toMatchObject({ fromNs: NOW - 3600n * S, toNs: NOW, nowNs: NOW })
  })

  test('continues with another page size and order of parameters', () => {
    expect(next('state=orphan&uid=a&limit=1', 'limit=7&uid=a&state=orphan')).toMatchObject({ limit: 7, place })
  })

  test('continues after its range has passed', () => {
    const query = 'from=-1m&to=2025-11-20T21:20:00Z'
    expect(next(query, query, NOW + 86_400n * S).toNs).toBe(NOW)
  })

  test('continues repeatedly', () => {
    const third = next('', '').next(['5', 'a'])
    expect(parseQuestion('timings', new URLSearchParams({ cursor: third }), later)).toMatchObject({
      nowNs: NOW,
      place: ['5', 'a'],
    })
  })

  test.each(['process=q', 'process=p&state=orphan', '', 'process=p&from=-2h', 'process=p&to=-1m', 'process=p&meta='])(
    'of process=p does not fit %j',
    (changed) => {
      expect(() => next('process=p', changed)).toThrow(Problem)
      expect(pointers(`${changed}&cursor=${ask('process=p').next(place)}`)).toContain('/cursor')
    },
  )

  test('of another kind of question does not fit', () => {
    expect(pointers(`cursor=${ask('').next(place)}`, 'exceptions')).toEqual(['/cursor'])
  })

  test.each([[[]], [['1']], [['x', 'tie']], [['1', 'a', 'b']], [['99999999999999999999', 'tie']]])(
    'that was forged with the place %j is refused',
    (made) => {
      expect(pointers(`cursor=${ask('').next(made)}`)).toEqual(['/cursor'])
    },
  )

  test.each(['timings', 'metrics', 'exceptions'] as const)(
    'of %s names a time and what tells its rows apart',
    (kind) => {
      expect(pointers(`cursor=${ask('', kind).next(place.slice(0, 1))}`, kind)).toEqual(['/cursor'])
      expect(pointers(`cursor=${ask('', kind).next(place)}`, kind)).toEqual([])
    },
  )
})

test.each(Object.entries(QUESTION_ROUTES))('%s takes each choice that it documents, and no other', (_, route) => {
  const read = readersOf(route)
  for (const [name, schema] of Object.entries(parametersOf(route))) {
    const choices: string[] = (schema.anyOf ?? [schema]).flatMap((one: { const?: string }) => one.const ?? [])
    if (choices.length === 0) continue
    expect(choices.map((text) => read[name]!.parse(text, NOW))).toEqual(choices.map((value) => ({ value })))
    expect(read[name]!.parse(`${choices[0]}s`, NOW)).toHaveProperty('detail')
  }
})
