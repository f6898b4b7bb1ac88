import { describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { Problem, type ProblemCode } from '../../src/problem.ts'
import type { QuestionDeps } from '../../src/query/questions.ts'
import { findRunMetrics } from '../../src/query/run-metrics.ts'
import { StoreError } from '../../src/store/source.ts'
import type { Summary, TimingPage } from '../../src/wire/timings.ts'
import { memoryQuestions, NOW_NS as NOW } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const S = 1_000_000_000n

type Content =
  | { kind: 'start'; uid?: string }
  | { kind: 'end'; uid?: string }
  | { kind: 'metrics'; items: [string, number][] }
  | { kind: 'exception'; exception: string }

/** `agoS` before now; an odd `sub` is a time of the event's own. */
function event(
  agoS: number,
  content: Content,
  where: { process?: string; meta?: string; account?: string; sub?: bigint } = {},
): Event {
  const { process = 'p', meta = '', account = 'a', sub = 0n } = where
  const common = { account, process, meta, stamp: parseStampNs(NOW - BigInt(agoS) * S + sub) }
  if (content.kind === 'start' || content.kind === 'end')
    return { ...common, kind: content.kind, uid: content.uid ?? '' }
  return { ...common, ...content }
}

function open(events: Event[], changes: Partial<QuestionDeps> = {}) {
  const clock = { nowNs: NOW }
  const series = () => ({ used: 7, max: 10 })
  const questions = memoryQuestions(events, { nowNs: () => clock.nowNs, series, ...changes })
  const opened = {
    questions,
    clock,
    ask: (kind: keyof typeof questions, query = '') => opened.questions[kind]('a', new URLSearchParams(query)),
  }
  return opened
}

async function refusal(answer: Promise<unknown>): Promise<Problem> {
  try {
    await answer
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('it was answered')
}
const expectRefusal = async (answer: Promise<unknown>, code: ProblemCode, detail: RegExp) => {
  const problem = await refusal(answer)
  expect(problem.code).toBe(code)
  expect(problem.detail).toMatch(detail)
}

test('as_of=to: pages and summary are of the same runs, as they were at the end of the range', async () => {
  const start = (agoS: number, uid: string) => event(agoS, { kind: 'start', uid })
  const end = (agoS: number, uid: string) => event(agoS, { kind: 'end', uid })
  const events = [
    ...[start(500, 'across'), end(100, 'across'), start(499, 'from the left'), end(350, 'from the left')],
    ...[start(290, 'to the right'), end(100, 'to the right'), start(350, 'inside'), end(330, 'inside')],
    ...[start(900, 'before'), end(401, 'before'), start(199, 'after'), end(100, 'after'), start(3_000, 'hangs')],
  ]
  const { ask } = open(events)
  const [from, to] = [400n, 200n].map((agoS) => new Date(Number((NOW - agoS * S) / 1_000_000n)).toISOString())
  const query = `from=${from}&to=${to}&as_of=to`
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = (await ask('timings', `${query}&limit=1${cursor && `&cursor=${cursor}`}`)) as TimingPage
    found.push(...page.timings.map(({ uid, state, ended_at: at }) => `${uid} ${state} ${at === null ? '' : 'ended'}`))
    cursor = page.next
  }
  expect(found).toEqual([
    'to the right running ',
    'inside completed ended',
    'from the left completed ended',
    'across running ',
    'hangs running ',
  ])
  const summary = async (more = '') => ((await ask('summary', query + more)) as Summary).rows
  expect(await summary()).toMatchObject([{ count: 2, running: 3, failed: 0 }])
  const series = await summary('&every=100s')
  expect(series.reduce((sum, { count, running }) => sum + count + running, 0)).toBe(5)
  expect(Math.max(...series.map(({ at_once = 0 }) => at_once))).toBe(3)
  const running = (await ask('timings', `${query}&state=running`)) as TimingPage
  expect(running.timings.map(({ uid }) => uid)).toEqual(['to the right', 'across', 'hangs'])
  await expectRefusal(ask('timings', 'as_of=now'), 'question_invalid', /./)
})

describe('pages', () => {
  const items = (page: object) => Object.values(page)[0] as unknown[]

  async function walk(
    opened: ReturnType<typeof open>,
    kind: 'timings' | 'metrics' | 'exceptions' | 'groups' | 'processes',
    query: string,
    between?: (page: number) => void,
  ) {
    const seen: unknown[][] = []
    let cursor: string | null = null
    do {
      const page: object = await opened.ask(kind, cursor === null ? query : `${query}&cursor=${cursor}`)
      seen.push(items(page))
      cursor = (page as { next: string | null }).next
      between?.(seen.length)
    } while (cursor !== null && seen.length < 100)
    return seen
  }

  const run = (uid: string, from: number, to: number) => [
    event(from, { kind: 'start', uid }),
    event(to, { kind: 'end', uid }),
  ]
  const runs = [
    ...run('a', 50, 20),
    ...run('b', 40, 30),
    event(35, { kind: 'start', uid: 'c' }),
    event(10, { kind: 'end', uid: 'd' }),
    ...run('e', 7200, 5),
  ]

  test('of any size together equal one large page', async () => {
    const whole = items(await open(runs).ask('timings'))
    expect(whole).toHaveLength(5)
    for (const limit of [1, 2, 3, 4, 5, 6]) {
      const pages = await walk(open(runs), 'timings', `limit=${limit}`)
      expect(pages.flat()).toEqual(whole)
      expect(pages).toHaveLength(Math.ceil(5 / limit))
    }
  })

  test('are not affected by marks that arrive in between', async () => {
    const events = [
      event(50, { kind: 'start' }),
      event(40, { kind: 'start', uid: 'b' }),
      event(30, { kind: 'start', uid: 'c' }),
    ]
    const opened = open(events)
    const pages = await walk(opened, 'timings', 'limit=1&state=running', (page) => {
      opened.clock.nowNs += 10n * S
      events.push(
        event(-5 * page, { kind: 'end', uid: 'b' }),
        event(-5 * page, { kind: 'start' }),
        event(-5 * page, { kind: 'start', uid: `new${page}` }),
      )
    })
    expect(pages.flat().map((t) => (t as { uid: string | null }).uid)).toEqual(['c', 'b', null])
    expect(items(await opened.ask('timings', 'state=running'))).toHaveLength(5)
  })

  test('of running ones hold each that ends while the first is read', async () => {
    const events = ['a', 'b', 'c'].map((uid, i) => event(50 - i, { kind: 'start', uid }))
    const { points } = createMemorySource(events)
    const findTimings: typeof points.findTimings = async (...asked) => {
      if (events.length === 3) events.push(event(-1, { kind: 'end', uid: 'c' }))
      return points.findTimings(...asked)
    }
    const opened = open(events, { points: { ...points, findTimings } })
    const pages = await walk(opened, 'timings', 'limit=1&state=running')
    expect(pages.flat().map((t) => (t as { uid: string }).uid)).toEqual(['c', 'b', 'a'])
  })

  describe('of processes and groups', () => {
    const names = (rows: unknown[]) => rows.map((row) => (row as { process: string }).process)
    const sent = (process: string, agoS: number, more = {}) => [
      event(agoS, { kind: 'start' }, { process, ...more }),
      event(agoS, { kind: 'exception', exception: 'x' }, { process, ...more }),
    ]
    const all = Array.from({ length: 600 }, (_, i) => `p${String(i).padStart(4, '0')}`)
    const events = () => all.flatMap((process, i) => sent(process, 10 + i))

    test.each(['groups', 'processes'] as const)('%s: all are reachable, each once', async (kind) => {
      const pages = await walk(open(events()), kind, 'limit=250')
      expect(pages.map(names)).toEqual([all.slice(0, 250), all.slice(250, 500), all.slice(500)])
      expect(pages[0]![0]).toMatchObject({ process: 'p0000' })
    })

    test.each(['groups', 'processes'] as const)('%s: each once, on any node, while new events arrive', async (kind) => {
      const stored = events()
      const opened = open(stored)
      const pages = await walk(opened, kind, 'limit=100', (page) => {
        opened.clock.nowNs += 10n * S
        for (const process of all.filter((_, i) => i % 7 === page % 7)) stored.push(...sent(process, -5 * page))
        stored.push(...sent(`new ${page}`, -1))
        opened.questions = open(stored).questions // as another node answers
      })
      expect(names(pages.flat())).toEqual(all)
    })

    test.each(['groups', 'processes'] as const)('%s: a cursor of another question is refused', async (kind) => {
      const opened = open(events())
      const { next } = (await opened.ask(kind, 'limit=10')) as { next: string }
      for (const query of [`process=p&cursor=${next}`, 'cursor=x'])
        await expectRefusal(opened.ask(kind, query), 'question_invalid', /parameters/)
    })

    test('all metas of a process are reachable, most recent first, and the list of processes says that there are more', async () => {
      const metas = Array.from({ length: 150 }, (_, i) => `m${String(i).padStart(3, '0')}`)
      const opened = open(metas.flatMap((meta, i) => sent('p', 10 + i, { meta })))
      const [row] = items(await opened.ask('processes')) as { metas: string[]; more_metas: boolean }[]
      expect(row!.metas).toEqual(metas.slice(0, 100))
      expect(row!.more_metas).toBe(true)
      const rows = (await walk(opened, 'processes', 'by=meta&process=p&limit=40')).flat()
      expect(rows.map((found) => (found as { metas: string[] }).metas[0])).toEqual(metas)
      expect(rows.every((found) => (found as { more_metas: boolean }).more_metas)).toBe(false)
    })
  })
})

test('a question without matches has an empty answer', async () => {
  const { ask } = open([])
  expect(await ask('timings')).toEqual({ timings: [], next: null })
  expect(await ask('summary')).toEqual({ rows: [] })
  expect(await ask('metrics')).toEqual({ points: [], next: null })
  expect(await ask('metrics', 'every=1m')).toEqual({ rows: [] })
  expect(await ask('exceptions')).toEqual({ exceptions: [], next: null })
  expect(await ask('groups')).toEqual({ groups: [], next: null, hidden: { resolved: 0, ignored: 0 } })
  expect(await ask('processes')).toEqual({ processes: [], next: null })
  expect(await ask('series')).toEqual({ used: 7, max: 10, warning: false })
})

test('buckets follow the days of a time zone', async () => {
  const { ask } = open([
    event(0, { kind: 'metrics', items: [['n', 1]] }),
    event(1, { kind: 'start' }),
    event(1, { kind: 'exception', exception: 'x' }),
  ])
  const at = '2025-11-19T23:00:00.000000000Z'
  const query = 'from=-1d&to=2025-11-21T00:00:00Z&every=1d&tz=Europe/Berlin'
  expect(await ask('summary', query)).toMatchObject({ rows: [{ at }] })
  expect(await ask('metrics', query)).toMatchObject({ rows: [{ at }] })
  expect(await ask('groups', query)).toMatchObject({ groups: [{ counts: [{ at, count: 1 }] }] })
  expect(await ask('metrics', query.replace('1d&tz', '1mo&tz'))).toMatchObject({
    rows: [{ at: '2025-10-31T23:00:00.000000000Z' }],
  })
  await expectRefusal(ask('summary', 'every=1s&from=-4h&tz=Europe/Berlin'), 'question_too_large', /14,400 buckets/)
})

describe('a question too large is refused', () => {
  const marks = Array.from({ length: 6 }, (_, i) => event(i + 1, { kind: 'start', uid: `u${i}` }))

  test('when it depends on too many marks, with the numbers and a way to narrow it', async () => {
    const { ask } = open(marks, { maxMarks: 5 })
    await expectRefusal(
      ask('timings'),
      'question_too_large',
      /6 marks; at most 5 .* a shorter range or for one process/,
    )
    await expectRefusal(ask('summary', 'process=p'), 'question_too_large', /a shorter range or for one meta/)
    await expectRefusal(ask('timings', 'process=p&meta='), 'question_too_large', /Ask for a shorter range;/)
    expect(await open(marks, { maxMarks: 6 }).ask('timings')).toMatchObject({ next: null })
  })

  test('without counting where all marks of all accounts are no more', async () => {
    const { points } = createMemorySource(marks)
    const countMarks = () => Promise.reject(new Error('counted'))
    const ask = (all: number | undefined) =>
      open(marks, { maxMarks: 5, points: { ...points, countMarks, boundMarks: async () => all } }).ask('summary')
    expect(await ask(5)).toMatchObject({ rows: [{ process: 'p' }] })
    for (const all of [6, undefined]) await expect(ask(all)).rejects.toThrow('counted')
  })

  test('asking for the number of all marks once in 10 s', async () => {
    const { points } = createMemorySource(marks)
    let asked = 0
    const boundMarks = async () => ++asked
    const { ask, clock } = open(marks, { points: { ...points, boundMarks } })
    for (const agoS of [0n, 9n, 10n]) {
      clock.nowNs = NOW + agoS * S
      await ask('summary')
    }
    expect(asked).toBe(2)
  })

  test('counting what lies MAX_RUN around the range, and of one process only that', async () => {
    const early = { maxMarks: 5, nowNs: () => NOW + 80_000n * S }
    await expectRefusal(open(marks, early).ask('timings', 'from=-1m'), 'question_too_large', /6 marks/)
    expect(await open(marks, { ...early, nowNs: () => NOW + 90_000n * S }).ask('timings', 'from=-1m')).toMatchObject({
      timings: [],
    })
    expect(await open(marks, early).ask('timings', 'process=q')).toMatchObject({ timings: [] })
  })

  test('without recommending a shorter range where what lies around it is too much by itself', async () => {
    const { ask } = open(marks, { maxMarks: 5, nowNs: () => NOW + 80_000n * S })
    await expectRefusal(ask('timings', 'from=-1s'), 'question_too_large', /Ask for one process; MAX_RUN before/)
    await expectRefusal(ask('timings', 'from=-1s&process=p'), 'question_too_large', /Ask for one meta; MAX_RUN before/)
    await expectRefusal(ask('timings', 'from=-1s&process=p&meta='), 'question_too_large', /raise QUERY_MAX_MARKS/)
  })

  test('except for a page that the store finds without reading all marks', async () => {
    const { points } = createMemorySource(marks)
    const { ask } = open(marks, { maxMarks: 5, points: { ...points, pagesStopEarly: true } })
    expect(await ask('timings')).toMatchObject({ next: null })
    await expectRefusal(ask('timings', 'state=running'), 'question_too_large', /6 marks/)
    await expectRefusal(ask('summary'), 'question_too_large', /6 marks/)
  })

  test('when its series has too many buckets', async () => {
    const { ask } = open([])
    for (const kind of ['summary', 'metrics'] as const) {
      await expectRefusal(ask(kind, 'from=-10001s&every=1s'), 'question_too_large', /10,001 buckets; at most 10,000 /)
      expect(await ask(kind, 'from=-10000s&every=1s')).toEqual({ rows: [] })
    }
  })
})

test('an answer without pages is refused when it has too many rows', async () => {
  const items = Array.from({ length: 50 }, (_, i): [string, number] => [`n${i}`, i])
  const metrics = Array.from({ length: 2001 }, (_, i) => event(i + 1, { kind: 'metrics', items }))
  const { ask } = open(metrics)
  await expectRefusal(
    ask('metrics', 'every=1s'),
    'question_too_large',
    /too many rows; at most 100,000 .* a shorter range or a longer every, or for one process\./,
  )
  expect(Object.values(await ask('metrics', 'every=1h'))[0]).toHaveLength(100)
})

describe('a store', () => {
  const failing = (error: Error) => {
    const { points, exceptions } = createMemorySource([])
    const fail = () => Promise.reject(error)
    return open([], {
      points: { ...points, countMarks: fail, findMetrics: fail, findPointProcesses: fail },
      exceptions: { ...exceptions, findExceptions: fail, groupExceptions: fail },
    })
  }
  const kinds = ['timings', 'latest', 'summary', 'metrics', 'exceptions', 'groups', 'processes'] as const

  test.each(kinds)(
    'an unreachable store makes %s a temporary refusal without the message of the store',
    async (kind) => {
      const problem = await refusal(failing(new StoreError('secret')).ask(kind))
      expect(problem).toMatchObject({ code: 'store_unavailable', retryAfterS: 5 })
      expect(problem.detail).not.toContain('secret')
      expect(problem.cause).toBeInstanceOf(StoreError)
    },
  )

  test('other failures are internal errors', async () => {
    const fault = new TypeError('a bug')
    expect(failing(fault).ask('timings')).rejects.toBe(fault)
  })
})

describe('a question for runs', () => {
  const run = (uid: string, from: number, to: number, process = 'p') => [
    event(from, { kind: 'start', uid }, { process }),
    event(to, { kind: 'end', uid }, { process }),
  ]
  const rows = (agoS: number, value: number, uid?: string, where: { process?: string; meta?: string } = {}): Event => ({
    ...(event(
      agoS,
      {
        kind: 'metrics',
        items: [
          ['rows', value],
          ['__proto__', 7],
        ],
      },
      where,
    ) as Event & { kind: 'metrics' }),
    ...(uid !== undefined && { uid }),
  })
  const events = [...run('a', 500, 400), ...run('b', 300, 100), ...run('c', 250, 240, 'q'), event(50, { kind: 'end' })]

  test('lists the slowest first, in pages', async () => {
    const { ask } = open(events)
    const uids = async (query: string) => {
      const { timings, next } = (await ask('timings', query)) as {
        timings: { uid: string | null }[]
        next: string | null
      }
      return [timings.map(({ uid }) => uid).join(), next] as const
    }
    expect(await uids('sort=duration')).toEqual(['b,a,c', null])
    expect((await uids('sort=duration&process=p&process=q&process=r'))[0]).toBe('b,a,c')
    let page = await uids('sort=duration&limit=1')
    const found = [page[0]]
    while (page[1] !== null) {
      page = await uids(`sort=duration&limit=1&cursor=${page[1]}`)
      found.push(page[0])
    }
    expect(found).toEqual(['b', 'a', 'c'])
    await expectRefusal(open(events, { maxMarks: 3 }).ask('timings', 'sort=duration'), 'question_too_large', /marks/)
  })

  test('has the newest value that each sent: with its uid until a minute later, else while it was open', async () => {
    const cast = [
      rows(450, 1, 'a'),
      rows(341, 2, 'a'), // 59 s after its end
      rows(339, 3, 'a'),
      rows(200, 4),
      rows(99, 5), // after the end of b
      rows(245, 6, 'c'), // of another process
      rows(260, 8, 'b', { meta: 'm' }),
      event(245, { kind: 'metrics', items: [['bytes', 9]] }, { account: 'stranger', process: 'q' }),
    ]
    const { ask } = open([...events, ...cast])
    const { timings } = (await ask('timings', 'metric=rows&metric=__proto__')) as {
      timings: { uid: string | null; metrics: object }[]
    }
    expect(timings.map(({ uid, metrics }) => [uid, JSON.stringify(metrics)])).toEqual([
      [null, '{"__proto__":null,"rows":null}'],
      ['c', '{"__proto__":null,"rows":null}'],
      ['b', '{"__proto__":7,"rows":4}'],
      ['a', '{"__proto__":7,"rows":2}'],
    ])
    expect(JSON.stringify(await ask('timings', 'metric=bytes'))).not.toContain('"bytes":9')
    expect(JSON.stringify(await ask('timings'))).not.toContain('"metrics"')
    expect(JSON.stringify(await ask('metrics', 'name=rows&process=p&limit=1'))).toContain('"uid":null')
  })

  test('metrics of runs that share a uid belong to the run that had started last', async () => {
    const runs = [90, 80, 70].flatMap((agoS) => [
      event(agoS, { kind: 'start', uid: 'w' }),
      rows(agoS - 1, agoS, 'w'),
      event(agoS - 5, { kind: 'end', uid: 'w' }),
    ])
    const { ask } = open([...runs, rows(64, 1, 'w')])
    const { timings } = (await ask('timings', 'metric=rows')) as { timings: { metrics: object }[] }
    expect(timings.map(({ metrics }) => metrics)).toEqual([{ rows: 1 }, { rows: 80 }, { rows: 90 }])
  })

  test('metrics beyond the limit are unknown, not absent or wrong', async () => {
    const timings = [100, 200].map((agoS, i) => ({
      ...{ process: 'p', meta: '', uid: `${i}`, state: 'completed' as const },
      ...{ startedNs: NOW - BigInt(agoS) * S, endedNs: NOW - BigInt(agoS - 50) * S, place: { ns: 0n, tie: '' } },
    }))
    const sent = [rows(60, 1, '0'), rows(70, 2, '0'), rows(155, 9), rows(160, 3, '1'), rows(170, 4)]
    const { points } = createMemorySource(sent)
    const find = (limit: number) => findRunMetrics(points, { account: 'a' }, timings, ['rows'], NOW, limit)
    expect(await find(5)).toEqual([{ rows: 1 }, { rows: 3 }])
    expect(await find(2)).toEqual([{ rows: 1 }, { rows: null }]) // its own may lie behind the one without a uid
    expect(await find(1)).toEqual([{ rows: 1 }, { rows: null }])
  })

  test('compares two ranges, with a row of each process in either', async () => {
    const failing = [
      event(90, { kind: 'start', uid: 'f' }),
      { ...event(80, { kind: 'end', uid: 'f' }), failed: true } as Event,
    ]
    const { ask } = open([...events, ...failing])
    const query = 'from=-200s&compare_from=-600s&percentiles=0,100'
    const { rows } = (await ask('summary', query)) as Summary
    expect(rows).toMatchObject([
      {
        ...{ process: 'p', count: 1, failed: 1, failure_rate: 0.5, percentiles: { 0: 200_000, 100: 200_000 } },
        before: { count: 1, failed: 0, failure_rate: 0, p50_ms: 100_000, percentiles: { 0: 100_000, 100: 100_000 } },
      },
      {
        ...{ process: 'q', count: 0, failure_rate: null, mean_ms: null, percentiles: { 0: null, 100: null } },
        before: { count: 1, max_ms: 10_000 },
      },
    ])
    const gone = (await ask('summary', 'from=-700s&to=-600s&compare_from=-600s&compare_to=-1s&by=meta')) as Summary
    expect(gone.rows.map(({ meta, count, before }) => [meta, count, before?.count])).toEqual([
      [null, 0, 2],
      [null, 0, 1],
    ])
    const only = (await ask('summary', 'compare_from=-9h&compare_to=-8h')) as Summary
    expect(only.rows[0]!.before).toMatchObject({ count: 0, p50_ms: null, failure_rate: null })
  })
})
