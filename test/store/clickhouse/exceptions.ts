// What the source answers about exceptions, metrics and processes. Timings: test/contract/pairing.ts.
import { describe, expect, test } from 'bun:test'
import type { Exception } from '../../../src/event/event.ts'
import { fingerprint } from '../../../src/event/fingerprint.ts'
import { contentOf, ownStamp } from '../../../src/event/identity.ts'
import { findTrouble } from '../../../src/query/find-trouble.ts'
import type { Page } from '../../../src/store/source.ts'
import { pageThrough } from '../../contract/source.ts'
import { engineMissing } from '../../support/engine.ts'
import { all, exception, MINUTE_NS, metrics, NS, start, useStore } from './answers-cast.ts'
import type { NamedPlace } from './subjects.ts'

export const proveExceptions = (at: NamedPlace): void =>
  describe.skipIf(engineMissing !== undefined)(`${at.name}:`, () => {
    const store = useStore(at)
    const { keep } = store

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
      expect(await pageThrough(find, 14)).toEqual(whole)
    })

    test('an arbitrary cursor is some place of its time', async () => {
      await keep([exception('forged', 0, 'a'), exception('forged', 1, 'b')])
      for (const tie of ['', '["1"]', '["1","99999999999999999999999"]', "'; DROP TABLE"])
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

    test('a completed run with an exception is trouble', async () => {
      const where = { process: 'p', meta: 'eu' }
      await keep([
        { ...start('trouble', 0, where), uid: 'r1' },
        { ...start('trouble', 2, where), kind: 'end', uid: 'r1' },
        exception('trouble', 1, 'a', where),
      ])
      const q = { ...all('trouble'), ...where, uid: 'r1', maxRunNs: MINUTE_NS, nowNs: NS + MINUTE_NS }
      const { timings } = await findTrouble({ points: store.source, exceptions: store.source }, q, { limit: 10 })
      expect(timings.map(({ state }) => state)).toEqual(['completed'])
    })

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
