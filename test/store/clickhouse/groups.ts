// What the source answers about groups of exceptions, and what a search finds.
import { describe, expect, test } from 'bun:test'
import { fingerprint } from '../../../src/event/fingerprint.ts'
import { comparePlaces } from '../../../src/store/order.ts'
import type { Page } from '../../../src/store/source.ts'
import { headlineOf } from '../../../src/wire/headline.ts'
import { pageThrough } from '../../contract/source.ts'
import { engineMissing } from '../../support/engine.ts'
import { all, exception, MINUTE_NS, NS, stamp, useStore } from './answers-cast.ts'
import type { NamedPlace } from './subjects.ts'

export const proveGroups = (at: NamedPlace): void =>
  describe.skipIf(engineMissing !== undefined)(`${at.name}:`, () => {
    const store = useStore(at)
    const { keep } = store

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
    })

    test('the groups of each process and meta come with their newest moments and their counts by hour', async () => {
      await keep([
        exception('raised', 0, 'same', { uid: 'u' }),
        exception('raised', 1_000_000, 'same'),
        exception('raised', 2_000_000, 'same', { meta: 'eu' }),
        exception('raised', 3_000_000, 'other', { process: 'q' }),
      ])
      const q = { ...all('raised'), countFromNs: NS + 1_000_000_000n, each: 10, maxRows: 10 }
      const hour = Number(NS / 3_600_000_000_000n)
      const row = (
        process: string,
        meta: string,
        text: string,
        at: readonly (readonly [us: number, uid: string])[],
      ) => ({
        ...{ fingerprint: fingerprint(text), process, meta, example: text },
        hours: [[hour, at.filter(([us]) => us >= 1_000_000).length]],
        moments: at.map(([us, uid]) => ({ atNs: NS + BigInt(us) * 1000n, restNs: expect.any(Number), uid })),
      })
      const expected = [
        row('q', '', 'other', [[3_000_000, '']]),
        row('p', 'eu', 'same', [[2_000_000, '']]),
        row('p', '', 'same', [
          [1_000_000, ''],
          [0, 'u'],
        ]),
      ]
      expect(await store.source.findRaised(q)).toEqual(expected as never)
      expect(await store.source.findRaised({ ...q, each: 1, process: 'p' })).toMatchObject([
        { meta: 'eu' },
        { moments: [{ uid: '' }] },
      ])
      expect(await store.source.findRaised({ ...q, maxRows: 1 })).toHaveLength(1)
      expect(await store.source.findRaised({ ...q, account: 'stranger' })).toEqual([])
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
      const texts = [
        'Error: 100% of C:\\tmp\\x',
        'error: 100 of c:/tmp',
        "O'Reilly .* [x] \0 _",
        'ÄRGER mit 😀 DISK',
        '',
      ]
      await keep(texts.map((text, i) => exception('search', i, text)))
      const search = async (...words: string[]) =>
        (await store.source.findExceptions({ ...all('search'), words }, { limit: 10 })).map((row) => row.exception)
      const rows: [words: string[], found: number[]][] = [
        [[], [4, 3, 2, 1, 0]],
        [
          ['of', 'error'],
          [1, 0],
        ],
        [['100%'], [0]],
        [['c:\\TMP\\'], [0]],
        [["o'reilly"], [2]],
        [['.*', '_', '\0'], [2]],
        [['ärger', '😀 disk'], [3]],
        [["') OR 1=1 --"], []],
        [['{word_0:String}'], []],
      ]
      for (const [words, found] of rows)
        expect([words, await search(...words)]).toEqual([words, found.map((i) => texts[i]!)])
      const groups = await store.source.groupExceptions({ ...all('search'), words: ['error'] }, { limit: 10 })
      expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(2)
    })

    test('a search for the words of a headline finds its exception, in JSON and in colours, too', async () => {
      const log = { level: 'error', message: 'Grüße an "Ada" <ada@x>: C:\\jobs\\a/b fehlt 😀', error: "can't open" }
      const json = JSON.stringify(log)
      const ascii = (text: string) =>
        text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)
      const texts = [
        json,
        ascii(json), // Python
        json.replaceAll('/', '\\/'), // PHP
        ascii(json).replace(/[<>']/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`), // Go, Java
        ascii(json).replaceAll('\\"', '\\u0022'), // .NET
        JSON.stringify({ level: 50, time: 1, msg: 'no rates', err: { code: 'E42', message: 'https://x is away' } }),
        JSON.stringify({ severity: 'crit', code: 7, message: 'no disk' }),
        JSON.stringify({ log: json, stream: 'stderr' }), // Docker
        '\u001b[1m\u001b[31mIOException\u001b[39;49;00m: no \u001b[36mspace\u001b[0m left on "/srv"',
      ]
      const process = 'headlines'
      await keep(texts.map((text, i) => exception(process, i, text)))
      for (const text of texts) {
        const headline = headlineOf(text)
        const q = { ...all(process), words: headline.split(/\s+/) }
        const found = await store.source.findExceptions(q, { limit: 10 })
        expect([headline, found.map((row) => row.exception)]).toEqual([headline, expect.arrayContaining([text])])
      }
      const colours = { ...all(process), words: ['0m'] }
      expect(await store.source.findExceptions(colours, { limit: 10 })).toEqual([])
    })

    test('groups are chosen and left out by fingerprint and process, thousands too', async () => {
      const odd = 'pé😀" \\ \t'
      await keep([
        exception('chosen', 0, 'same'),
        exception('chosen', 5_000_000, 'same'),
        exception('chosen', 5_000_000, 'same'),
        exception('chosen', 1_000_000, 'same', { process: odd }),
        exception('chosen', 2_000_000, 'other'),
      ])
      const key = (text: string, process = 'p') => ({ fingerprint: fingerprint(text), process })
      const many = Array.from({ length: 2_000 }, (_, i) => ({ fingerprint: `v4:${i}`, process: 'pü'.repeat(40) }))
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
      expect(await pageThrough((page) => store.source.groupExceptions(all('equal'), page), 5)).toEqual(whole)
      const strange = { ns: NS, tie: "'; DROP" }
      expect(await store.source.groupExceptions(all('equal'), { limit: 100, after: strange })).toEqual(whole)
      await keep([exception('equal', 1, texts[2]!, { process: 'p "' })])
      const most = await store.source.groupExceptions(all('equal'), { limit: 100, byCount: true })
      expect(most.map(({ count }) => count)).toEqual([2, ...Array(15).fill(1)])
      expect(most).toEqual(most.toSorted((a, b) => comparePlaces(a.place, b.place)))
      const byCount = (page: Page) => store.source.groupExceptions(all('equal'), { ...page, byCount: true })
      expect(await pageThrough(byCount, 5)).toEqual(most)
    })
  })
