// The questions of the command line: what is printed is what the API answers, in each of its forms.
import { expect, test } from 'bun:test'
import type { Event } from '../../../src/event/event.ts'
import { startApp, useApp } from '../../support/app.ts'
import { cells, createPerson } from '../cli-cast.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever an answer holds
type Row = Record<string, any>

const HOSTILE = 'Error: \u001b[31mred\u009b2J\u202e\r\n\tat <load>\n"quoted", =1+1'
const EXCEPTIONS = 250

const stored: Event[] = []
const app = await useApp({ stored })
const person = createPerson(app.url)
const run = (line: string | readonly string[], { env = {}, ...more }: Parameters<typeof person.run>[1] = {}) =>
  person.run(line, { ...more, env: { STINT_API_KEY: app.keys.reader, ...env } })
const ask = async (path: string): Promise<Record<string, Row[]>> =>
  (await app.fetch(path, { key: app.keys.reader })).json

/** So many s after an hour ago. */
const at = (s: number, process = 'import', meta = '') => ({
  ...{ account: app.account, process, meta, stamp: { us: app.clock.wallUs() + (s - 3600) * 1e6, sub: 0 } },
})
stored.push(
  { kind: 'start', ...at(0, 'import', 'eu'), uid: 'a' },
  { kind: 'end', ...at(1.24, 'import', 'eu'), uid: 'a' },
  { kind: 'start', ...at(10), uid: 'b' },
  { kind: 'end', ...at(202), uid: 'b' },
  { kind: 'start', ...at(20, 'import', 'us'), uid: 'c' },
  { kind: 'start', ...at(30), uid: 'd' },
  { kind: 'start', ...at(40), uid: 'd' },
  { kind: 'end', ...at(50, 'größe 寸法'), uid: 'e' },
  {
    kind: 'metrics',
    ...at(5),
    items: [
      ['rows', 3],
      ['bytes read', 1.5],
    ],
  },
  { kind: 'metrics', ...at(6), items: [['rows', 5]] },
  { kind: 'exception', ...at(60, 'import', 'eu'), exception: HOSTILE },
  ...Array.from(
    { length: EXCEPTIONS },
    (_, i): Event => ({
      ...{ kind: 'exception', ...at(100 + i, 'many'), exception: `number ${i}` },
    }),
  ),
)

test('JSON is the answer of the API, one row per line', async () => {
  for (const [line, path, list] of [
    ['timings --from -2h', '/api/timings?from=-2h', 'timings'],
    [
      'timings --from -2h --state completed --process import',
      '/api/timings?from=-2h&state=completed&process=import',
      'timings',
    ],
    ['summary --from -2h --by meta', '/api/timings/summary?from=-2h&by=meta', 'rows'],
    ['metrics --from -2h --name rows', '/api/metrics?from=-2h&name=rows', 'points'],
    ['metrics --from -2h --every 1h', '/api/metrics?from=-2h&every=1h', 'rows'],
    ['exceptions --from -2h --process import', '/api/exceptions?from=-2h&process=import', 'exceptions'],
    ['exceptions --groups --from -2h', '/api/exceptions/groups?from=-2h', 'groups'],
    ['processes --from -2h', '/api/processes?from=-2h', 'processes'],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(`${line} --json`)
    const answer = await ask(path)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual(answer)
    expect(stdout.split('\n')).toHaveLength(answer[list]!.length + 3)
    expect(answer[list]!.length).toBeGreaterThan(0)
  }
})

test('prints an empty answer in every format', async () => {
  expect(await run('timings --process nobody --json')).toEqual({
    exitCode: 0,
    stdout: '{"timings":[\n],"next":null}\n',
    stderr: '',
  })
  expect(await run('summary --process nobody --json')).toEqual({ exitCode: 0, stdout: '{"rows":[\n]}\n', stderr: '' })
  expect(await run('timings --process nobody --csv')).toMatchObject({
    stdout: 'process,meta,uid,state,started_at,ended_at,duration_ms,exceptions\r\n',
    stderr: '',
  })
  expect(await run('timings --process nobody')).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: 'No timings in this range.\n',
  })
})

test('timings as a table with readable durations', async () => {
  const { stdout } = await run('timings --from -2h --process import')
  const [head, ...rows] = cells(stdout)
  expect(head).toEqual(['STARTED', 'ENDED', 'DURATION', 'STATE', 'EXCEPTIONS', 'PROCESS', 'META', 'UID'])
  expect(rows.map((row) => row.slice(2).toSpliced(2, 1))).toEqual([
    ['–', 'running', 'import', '–', 'd'],
    ['–', 'never finished', 'import', '–', 'd'],
    ['–', 'running', 'import', 'us', 'c'],
    ['3 m 12 s', 'completed', 'import', '–', 'b'],
    ['1.24 s', 'completed', 'import', 'eu', 'a'],
  ])
})

test('timings as CSV with exact values', async () => {
  const { timings } = await ask('/api/timings?from=-2h')
  const { stdout } = await run('timings --from -2h --csv')
  const rows = timings!.map((timing) =>
    Object.values(timing)
      .map((value) => value ?? '')
      .join(','),
  )
  expect(stdout).toBe([`process,meta,uid,state,started_at,ended_at,duration_ms,exceptions`, ...rows, ''].join('\r\n'))
})

test('filters by state, meta, absence of meta, uid, and a printed time', async () => {
  const uids = async (line: readonly string[]) => {
    const { stdout } = await run(['timings', '--from', '-2h', ...line, '--json'])
    return JSON.parse(stdout).timings.map(({ uid }: { uid: string }) => uid)
  }
  expect(await uids(['--state', 'abandoned'])).toEqual(['d'])
  expect(await uids(['--meta', 'eu'])).toEqual(['a'])
  expect(await uids(['--meta', '', '--process', 'import'])).toEqual(['d', 'd', 'b'])
  expect(await uids(['--uid', 'c'])).toEqual(['c'])
  const { stdout } = await run('timings --from -2h --uid b')
  const started = cells(stdout)[1]![0]!
  expect(await uids(['--uid', 'a', '--to', started])).toEqual(['a'])
  expect(await uids(['--uid', 'b', '--to', started])).toEqual([])
})

test('summary as a table, with meta and time on request', async () => {
  const plain = cells((await run('summary --from -2h --process import')).stdout)
  expect(plain).toEqual([
    [
      'PROCESS',
      'COUNT',
      'MEAN',
      'P50',
      'P95',
      'P99',
      'MAX',
      'FAILED',
      'RATE',
      'RUNNING',
      'NEVER FINISHED',
      'END WITHOUT START',
    ],
    ['import', '2', '1 m 37 s', '1 m 37 s', '3 m 02 s', '3 m 10 s', '3 m 12 s', '0', '0 %', '2', '1', '0'],
  ])
  const split = cells((await run('summary --from -2h --by meta --every 1d --process import')).stdout)
  expect(split[0]!.slice(0, 4)).toEqual(['FROM', 'PROCESS', 'META', 'COUNT'])
  const { stdout } = await run('summary --from -2h --by meta --every 1d --csv')
  expect(stdout.split('\r\n')[0]).toBe(
    'process,meta,at,count,mean_ms,p50_ms,p95_ms,p99_ms,max_ms,failed,running,abandoned,orphan,failure_rate',
  )
})

test('metrics, one by one and by interval', async () => {
  const points = cells((await run('metrics --from -2h')).stdout).map((row) => row.slice(1))
  expect(points).toEqual([
    ['PROCESS', 'META', 'UID', 'NAME', 'VALUE'],
    ['import', '–', '–', 'rows', '5'],
    ['import', '–', '–', 'bytes read', '1.5'],
    ['import', '–', '–', 'rows', '3'],
  ])
  const rows = cells((await run('metrics --from -2h --every 1d --name rows')).stdout).map((row) => row.slice(1))
  expect(rows).toEqual([
    ['PROCESS', 'NAME', 'COUNT', 'MEAN', 'MIN', 'MAX', 'SUM', 'LAST'],
    ['import', 'rows', '2', '4', '3', '5', '8', '5'],
  ])
})

test('escapes what callers sent on a terminal, and passes it unchanged to a program', async () => {
  // The headline leaves colours out.
  const rows = { '': 'Error: red', '--groups': 'Error: red', '--full': '\\x1b[31mred', '--csv': '\\x1b[31mred' }
  for (const [flags, text] of Object.entries(rows)) {
    const { stdout } = await run(`exceptions --from -2h --process import ${flags}`.trim(), { columns: 200 })
    expect(Bun.stripANSI(stdout).replace(/[\n\t]|\r\n/g, '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
    expect(stdout).toContain(`${text}\\x9b2J\\u{202e}`)
  }
  const piped = await run('exceptions --from -2h --process import --csv')
  expect(piped.stdout).toContain(`"${HOSTILE.replaceAll('"', '""')}"`)
  const json = await run('exceptions --from -2h --process import --json')
  expect(JSON.parse(json.stdout).exceptions[0].exception).toBe(HOSTILE)
  expect(json.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

test('full texts of exceptions, indented', async () => {
  const { stdout } = await run('exceptions --from -2h --process import --full')
  expect(stdout).toMatch(
    /^\d{4}-\S+ \S+ {2}import \(eu\) {2}v\d+:[0-9a-f]+\n {2}Error: [^\n]*\n {2}\tat <load>\n {2}"quoted", =1\+1\n\n$/,
  )
})

test('on a terminal a table is cut to its width and coloured, unless NO_COLOR is set', async () => {
  const coloured = await run('timings --from -2h', { columns: 100, env: { TERM: 'xterm' } })
  expect(coloured.stdout).toContain('\u001b[36mrunning\u001b[0m')
  const plain = await run('timings --from -2h', { columns: 80, env: { NO_COLOR: '1' } })
  expect(plain.stdout).not.toContain('\u001b')
  const widths = (await run('exceptions --from -2h --process many', { columns: 60, env: { NO_COLOR: '1' } })).stdout
    .split('\n')
    .map((line) => Bun.stringWidth(line))
  expect(Math.max(...widths)).toBeLessThanOrEqual(60)
})

test('a page reports that there is more; --all prints all pages without repetition', async () => {
  const page = await run('exceptions --from -2h --process many --csv')
  expect(page.stdout.split('\r\n')).toHaveLength(102)
  expect(page.stderr).toBe('There are more rows; --all prints all of them.\n')
  const numbers = (texts: string[]) => texts.map((text) => Number(text.slice(7))).sort((a, b) => a - b)
  const everything = Array.from({ length: EXCEPTIONS }, (_, i) => i)
  const json = JSON.parse((await run('exceptions --from -2h --process many --all --limit 100 --json')).stdout)
  expect(numbers(json.exceptions.map(({ exception }: { exception: string }) => exception))).toEqual(everything)
  expect(json.next).toBeNull()
  const small = await run('exceptions --from -2h --process many --all --limit 100 --csv')
  expect(
    numbers(
      small.stdout
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[3]!),
    ),
  ).toEqual(everything)
  expect(small.stderr).toBe('')
  expect(
    (await run('exceptions --from -2h --process many --all --limit 100')).stdout.trimEnd().split('\n'),
  ).toHaveLength(EXCEPTIONS + 1)
})

test('errors of a question name the flags', async () => {
  const { exitCode, stdout, stderr } = await run('timings --limit 5000 --state done')
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain('  --limit must be a whole number from 1 to 1000\n')
  expect(stderr).toContain('  --state must be one of completed, failed, running, abandoned, orphan, trouble\n')
})

test('a wrong key, no key, and an unreachable Stint have different errors', async () => {
  const wrong = await run('timings', { env: { STINT_API_KEY: 'stint_wrong' } })
  expect(wrong).toMatchObject({ exitCode: 1, stdout: '' })
  expect(wrong.stderr).toStartWith('stint: The API key is missing or not valid')
  expect(wrong.stderr).toContain('run stint login')
  const none = await run('timings', { env: { STINT_API_KEY: '' } })
  expect(none).toMatchObject({
    exitCode: 1,
    stderr: `stint: no API key for ${app.url}: run stint login, or set STINT_API_KEY\n`,
  })
  const away = await run('timings', { env: { STINT_URL: 'http://127.0.0.1:1' } })
  expect(away.exitCode).toBe(1)
  expect(away.stderr).toStartWith('stint: cannot reach Stint at http://127.0.0.1:1 (connection refused)')
})

test('running timings, the one that runs longest first', async () => {
  const rows = cells((await run('running')).stdout)
  expect(rows[0]).toEqual(['STARTED', 'RUNNING FOR', 'PROCESS', 'META', 'UID'])
  expect(rows.slice(1).map((row) => row.slice(2))).toEqual([
    ['import', 'us', 'c'],
    ['import', '–', 'd'],
  ])
  expect(rows[2]![1]).toMatch(/^(59 m \d+ s|1 h \d+ m)$/)
})

test('without InfluxDB there is no budget of series', async () => {
  expect(await run('series')).toEqual({ exitCode: 0, stdout: 'No limit.\n', stderr: '' })
})
test('the budget of series is printed with its use, a warning from 80 % on, and an explanation when it is used up', async () => {
  await using app = await startApp({ seriesMax: 10 })
  const run = (line: string) => createPerson(app.url).run(line, { env: { STINT_API_KEY: app.keys.owner } })
  const begin = (from: number, to: number) =>
    app.post(
      '/v1/batch',
      Array.from({ length: to - from }, (_, i) => ({ kind: 'start', process: `p${from + i}` })),
    )
  await begin(0, 7)
  expect(await run('series')).toEqual({ exitCode: 0, stdout: '7 of 10 (70 %)\n', stderr: '' })
  await begin(7, 8)
  expect(await run('series')).toEqual({
    exitCode: 0,
    stdout: '8 of 10 (80 %)\n',
    stderr: 'stint: warning: 80 % of the series limit used; beyond it new processes, metas and metrics are refused\n',
  })
  await begin(8, 11)
  expect(await run('series')).toMatchObject({
    stdout: '10 of 10 (100 %)\n',
    stderr: expect.stringContaining('series limit reached'),
  })
  expect(await run('series --json')).toMatchObject({ stdout: '{"used":10,"max":10,"warning":true}\n' })
  expect(await run('series --csv')).toMatchObject({ stdout: 'used,max\r\n10,10\r\n' })
})
