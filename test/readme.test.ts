// README.md is held against the code: its tables both ways, and its first requests by sending them to the real process.
import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { problemTable } from '../src/problem.ts'
import { missing } from './support/needs.ts'
import { createStintProcess } from './support/process.ts'

const README = await Bun.file(join(import.meta.dir, '../README.md')).text()

/** The rows of the table under a heading, as cells. */
function tableUnder(heading: string): string[][] {
  const section = README.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`README.md has no section ${heading}`)
  return [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, row]) => row!.split(' | ').map((cell) => cell.trim()))
}

test('the table of errors is that of the code', () => {
  const documented = tableUnder('Errors').map(([code, status, title]) => [
    code!.replaceAll('`', ''),
    Number(status),
    title,
  ])
  const real = Object.entries(problemTable).map(([code, { status, title }]) => [code, status, title])
  expect(documented).toEqual(real)
})

describe('the table of settings', () => {
  /** Every variable that is asked for, with stores and without. */
  function variablesOf(given: Record<string, string>): string[] {
    const asked = new Set<string>()
    const env = new Proxy(given, {
      get(target, name: string) {
        asked.add(name)
        return target[name]
      },
    })
    readConfig(env)
    return [...asked]
  }
  const stores = {
    INFLUX_URL: 'http://127.0.0.1:8086',
    INFLUX_TOKEN: 't',
    INFLUX_ORG: 'o',
    INFLUX_BUCKET: 'b',
    CLICKHOUSE_URL: 'http://127.0.0.1:8123',
  }

  test('names every variable that is read, and no other', () => {
    const documented = tableUnder('Settings').flatMap(([names]) =>
      [...names!.matchAll(/`([A-Z_]+)`/g)].map((m) => m[1]!),
    )
    const read = new Set([...variablesOf({}), ...variablesOf(stores)])
    expect(documented.sort()).toEqual([...read].sort())
  })

  test('has the defaults of the code', () => {
    const { port, host, dataDir, serviceName, nodeId, signup, retentionDays, rateLimit, logLevel, seriesMax } =
      readConfig({})
    const defaults = Object.fromEntries(
      tableUnder('Settings').map(([names, value]) => [names, value!.replaceAll('`', '')]),
    )
    expect(defaults).toMatchObject({
      '`PORT`': String(port),
      '`HOST`': host,
      '`DATA_DIR`': dataDir,
      '`SERVICE_NAME`': serviceName,
      '`NODE_ID`': String(nodeId),
      '`SIGNUP`': signup,
      '`RETENTION_DAYS`': String(retentionDays),
      '`RATE_LIMIT`': String(rateLimit),
      '`LOG_LEVEL`': logLevel,
      '`SERIES_MAX`': String(seriesMax),
    })
    const spelled = {
      MAX_RUN: '24h',
      MAX_AGE: '7d',
      SPOOL_MAX_BYTES: '10GiB',
      DEAD_MAX_BYTES: '1GiB',
      TRUST_PROXY: 'false',
    }
    for (const [name, value] of Object.entries(spelled)) expect(defaults[`\`${name}\``]).toBe(value)
    expect(readConfig(spelled)).toEqual(readConfig({}))
  })
})

describe.skipIf(missing('chdb') !== undefined)('the first requests', () => {
  const stint = createStintProcess()
  afterAll(() => stint.close())
  const VISIBLE_WITHIN_MS = 10_000

  /** What an answer is made of, without the values that differ from run to run. */
  function shapeOf(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(shapeOf)
    if (value === null || typeof value !== 'object') return value === null ? null : typeof value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]))
  }

  /** Each command with the answer that the README prints under it, if any. */
  const section = README.slice(README.indexOf('## A first request'), README.indexOf('# Reference'))
  const steps = [...section.matchAll(/```sh\n(.*?)```\n(?:\n```json\n(.*?)```)?/gs)].map(([, command, answer]) => ({
    command: command!,
    answer: answer === undefined ? undefined : JSON.parse(answer),
  }))

  test('are answered as printed', async () => {
    await stint.start()
    let key = ''
    for (const { command, answer } of steps) {
      if (answer === undefined) continue // the line that puts the key into the shell
      const script = command.replaceAll('http://127.0.0.1:7070', stint.url)
      const ask = async (): Promise<unknown> => {
        const shell = Bun.spawn(['sh', '-c', script], {
          env: { PATH: process.env.PATH ?? '', KEY: key },
          stderr: 'inherit',
        })
        return JSON.parse(await new Response(shell.stdout).text())
      }
      const deadline = performance.now() + VISIBLE_WITHIN_MS
      let got = await ask()
      const isQuestion = !command.includes(' -d ')
      while (isQuestion && !Bun.deepEquals(shapeOf(got), shapeOf(answer)) && performance.now() < deadline) {
        await Bun.sleep(50)
        got = await ask()
      }
      expect(shapeOf(got), command).toEqual(shapeOf(answer))
      key = (got as { key?: { secret: string } }).key?.secret ?? key
    }
    expect(steps.length).toBeGreaterThan(8)
  }, 60_000)
})
