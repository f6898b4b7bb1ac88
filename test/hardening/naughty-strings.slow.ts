// The big list of naughty strings through every text field of every call, and back out of every question: exactly, after the stripping that
// is documented.
import { describe, expect, test } from 'bun:test'
import naughtyStrings from 'big-list-of-naughty-strings'
import { MAX_BATCH_EVENTS } from '../../src/wire/events.ts'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing, influxSettings } from '../support/influxd.ts'
import { readAll, untilShipped } from '../support/oracle.ts'
import { type Caller, createStintProcess, type Env } from '../support/process.ts'

const WITHIN_MS = 60_000

/** The list, and what it lacks: what means something in line protocol, Flux, SQL and JSON, at the ends of texts. */
const MORE = [
  '\\', 'a\\', 'a\\\\', '\\a', 'a\\"', 'a,b=c d', ' a', 'a ', '  ', '=', ',', '$'.concat('{x}'), '{account:String}', '__proto__', 'constructor',
  '\u0000', 'a\u0000b', '\u007f', '\u0085', '\u2028', '\ufeffa', '\ufffd', '\u{10ffff}', 'e\u0301', '\u00e9', 'a\nb', 'a\r\nb', '\t',
] // biome-ignore format: a table
const STRINGS: readonly string[] = [...new Set([...(naughtyStrings as string[]), ...MORE])]

/** The rule of the README, written independently of the code under test. */
const stripped = (text: string) => text.replace(/['"%\u0000-\u001f\u007f]/g, '').replace(/\\+$/, '')
const fits = (text: string, max: number) => [...text].length <= max && text.isWellFormed()
const isProcess = (text: string) => fits(text, 250) && stripped(text) !== ''
const isMeta = (text: string) => fits(text, 500)
const isName = (text: string) => fits(text, 250) && text !== '' && stripped(text) === text
const isUid = (text: string) => /^[a-z0-9_-]{0,50}$/.test(text)
const asMeta = (text: string) => stripped(text) || null

/** What was accepted, as it must be read. */
interface Sent {
  timings: string[]
  points: string[]
  exceptions: string[]
  outputs: string[]
}

interface Call {
  readonly kind: 'start' | 'end' | 'metrics' | 'exception'
  readonly body: Readonly<Record<string, unknown>>
  readonly isGood: boolean
}

/** The calls that bring a text through every field that takes text, and what of it must be read afterwards. */
function callsOf(text: string, sent: Sent): Call[] {
  const calls: Call[] = []
  for (const kind of ['start', 'end'] as const) {
    calls.push({ kind, body: { process: text, uid: 'a' }, isGood: isProcess(text) })
    calls.push({ kind, body: { process: 'meta', meta: text, uid: 'm' }, isGood: isMeta(text) })
    calls.push({ kind, body: { process: 'uid', meta: 'u', uid: text }, isGood: isUid(text) })
  }
  if (isProcess(text)) sent.timings.push(JSON.stringify([stripped(text), null, 'a']))
  if (isMeta(text)) sent.timings.push(JSON.stringify(['meta', asMeta(text), 'm']))
  if (isUid(text)) sent.timings.push(JSON.stringify(['uid', 'u', text || null]))
  const isBoth = isProcess(text) && isMeta(text)
  calls.push({
    kind: 'metrics',
    body: { process: 'names', items: Object.fromEntries([[text, 1]]) },
    isGood: isName(text),
  })
  calls.push({ kind: 'metrics', body: { process: text, meta: text, items: { n: 2 } }, isGood: isBoth })
  if (isName(text)) sent.points.push(JSON.stringify(['names', null, text, 1]))
  if (isBoth) sent.points.push(JSON.stringify([stripped(text), asMeta(text), 'n', 2]))
  calls.push({ kind: 'exception', body: { process: 'texts', exception: text }, isGood: fits(text, 15_000) })
  calls.push({ kind: 'exception', body: { process: text, meta: text, exception: 'x' }, isGood: isBoth })
  if (fits(text, 15_000)) sent.exceptions.push(JSON.stringify(['texts', null, text]))
  if (isBoth) sent.exceptions.push(JSON.stringify([stripped(text), asMeta(text), 'x']))
  calls.push({ kind: 'end', body: { process: 'said', output: text }, isGood: fits(text, 15_000) })
  if (fits(text, 15_000)) sent.timings.push(JSON.stringify(['said', null, null]))
  if (fits(text, 15_000) && text !== '') sent.outputs.push(JSON.stringify(['said', null, text]))
  return calls
}

const noneYet = (): Sent => ({ timings: [], points: [], exceptions: [], outputs: [] })

/** In few requests, so that the stores are what takes the time. */
async function send(caller: Caller, strings: readonly string[]): Promise<Sent> {
  const sent = noneYet()
  const calls = strings.flatMap((text) => callsOf(text, sent))
  const lines = calls.map(({ kind, body }) => JSON.stringify({ kind, ...body }))
  const items: { at?: string; status?: number }[] = []
  for (let i = 0; i < lines.length; i += MAX_BATCH_EVENTS) {
    const batch = lines.slice(i, i + MAX_BATCH_EVENTS).map((line) => JSON.parse(line))
    const response = await caller.post('/v1/batch', batch)
    items.push(...((await response.json()) as { items: typeof items }).items)
  }
  expect(items.map(({ at, status }) => (at === undefined ? status : 201))).toEqual(
    calls.map(({ isGood }) => (isGood ? 201 : 422)),
  )
  return sent
}

type Row = Record<string, unknown>

/** Sends each text through every field, and finds it again. */
async function comeBack(strings: readonly string[], settings: Env = {}): Promise<void> {
  await using stint = createStintProcess(settings)
  await stint.start()
  const caller = await stint.signUp('ada@example.com')
  const sent = await send(caller, strings)
  await untilShipped(stint.url, WITHIN_MS)

  const timings = await readAll<Row>(caller, '/api/timings?from=-1h', 'timings')
  expect(
    timings
      .filter(({ process }) => process !== 'meta' && process !== 'said')
      .every(({ state }) => state === 'completed'),
  ).toBe(true)
  expect(timings.map(({ process, meta, uid }) => JSON.stringify([process, meta, uid])).sort()).toEqual(
    sent.timings.sort(),
  )
  const points = await readAll<Row>(caller, '/api/metrics?from=-1h', 'points')
  expect(points.map(({ process, meta, name, value }) => JSON.stringify([process, meta, name, value])).sort()).toEqual(
    sent.points.sort(),
  )
  const exceptions = await readAll<Row>(caller, '/api/exceptions?from=-1h', 'exceptions')
  expect(exceptions.map(({ process, meta, exception }) => JSON.stringify([process, meta, exception])).sort()).toEqual(
    sent.exceptions.sort(),
  )

  const outputs = await readAll<Row>(caller, '/api/outputs?from=-1h', 'outputs')
  expect(outputs.map(({ process, meta, output }) => JSON.stringify([process, meta, output])).sort()).toEqual(
    sent.outputs.sort(),
  )

  // Asked for by name, each finds its own and nothing else.
  const every = Math.ceil(strings.length / 3)
  const some = strings.filter((_, i) => i % every === 0)
  for (const text of some.filter(isProcess)) {
    const asked = encodeURIComponent(text)
    const kept = stripped(text)
    for (const [path, list] of [
      ['/api/timings', 'timings'],
      ['/api/timings/summary', 'rows'],
      ['/api/metrics', 'points'],
      ['/api/exceptions', 'exceptions'],
      ['/api/processes', 'processes'],
    ] as const) {
      const answer = (await (await caller.get(`${path}?process=${asked}`)).json()) as Record<
        string,
        { process: string }[]
      >
      const found = answer[list]!.map(({ process }) => process)
      expect({ path, text, found: [...new Set(found)] }).toEqual({ path, text, found: [kept] })
    }
    const groups = await (await caller.get(`/api/exceptions/groups?process=${asked}&meta=${asked}`)).json()
    expect(groups).toMatchObject({ groups: [{ process: kept, example: 'x' }] })
  }
  for (const text of some.filter(isName)) {
    const answer = await caller.get(`/api/metrics?process=names&name=${encodeURIComponent(text)}`)
    expect(await answer.json()).toMatchObject({ points: [{ name: text, value: 1 }] })
  }
  const dead = await caller.get('/api/dead')
  expect(await dead.json()).toEqual({ dead: [], next: null })
}

test('the list is complete', () => expect(STRINGS.length).toBeGreaterThan(450))

describe('naughty strings read back unchanged', () => {
  test.skipIf(engineMissing !== undefined)('from ClickHouse', () => comeBack(STRINGS))

  test.skipIf(engineMissing !== undefined || influxdMissing !== undefined)('from InfluxDB and ClickHouse', async () => {
    await comeBack(STRINGS, influxSettings(await (await influxd()).freshBucket()))
  })
})
