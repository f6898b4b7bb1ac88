// The page about existing servers against the code: its commands run on a real InfluxDB, its SQL is the code's own, and its
// uids are those of the dashboards.
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { $, Glob } from 'bun'
import { MIGRATIONS } from '../../src/store/clickhouse/migrations.ts'
import { createSchema } from '../../src/store/clickhouse/schema.ts'
import { createInfluxSink } from '../../src/store/influx/sink.ts'
import { readRows, silent } from '../store/influx/subjects.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { ROOT, readRepo, sectionUnder, tableUnder } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'

const PAGE = 'src/deploy/existing.md'
const blocksOf = (heading: string, language: string): string[] =>
  [...sectionUnder(PAGE, heading).matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, text]) => text!,
  )

test.each([
  ['New tables in 2.0', [5]],
  ['Changed tables in 2.1', [6, 7, 8]],
])('the statements under %j are those that Stint runs', (heading, steps) => {
  const plain = (sql: string) => sql.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')').trim()
  const own = MIGRATIONS.filter(({ number }) => steps.includes(number)).flatMap(({ statements }) =>
    statements({ schema: createSchema('stint'), retentionDays: 0, embedded: false }),
  )
  const printed = blocksOf(heading, 'sql')[0]!.split(';').map(plain).filter(Boolean)
  expect(printed).toEqual(own.map((sql) => plain(sql.replaceAll('`', ''))))
})

test('each addition to the tables has its statements on the page', () => {
  expect(MIGRATIONS.flatMap(({ number, isAddition }) => (isAddition ? [number] : []))).toEqual([5, 6, 7, 8])
})

test('the dashboards use the data sources of the table, and no other', () => {
  const table = tableUnder(PAGE, 'Grafana').map(([uid]) => uid!.replaceAll('`', ''))
  const dir = 'src/deploy/grafana/dashboards'
  const used = [...new Glob('*/*.json').scanSync(join(ROOT, dir))].flatMap((file) =>
    [...readRepo(`${dir}/${file}`).matchAll(/"datasource": \{[^}]*?"uid": "(\w[^"]*)"/gs)].map(([, uid]) => uid!),
  )
  expect([...new Set(used)].sort()).toEqual(table.toSorted())
})

describe.skipIf(influxdMissing !== undefined)('the commands for InfluxDB', () => {
  test('make a bucket and a token with which Stint stores', async () => {
    const { url, token, org, freshName } = await influxd()
    const [dir, bucket] = [tempDir('existing'), freshName()]
    writeFileSync(join(dir, 'operator-token'), token)
    const [commands] = blocksOf('InfluxDB', 'sh')
    const lines = commands!
      .replace('http://127.0.0.1:8086', url)
      .replace('my-org', org)
      .replace('INFLUX_BUCKET=stint', `INFLUX_BUCKET=${bucket}`)
      .replace('src/deploy', join(ROOT, 'src/deploy'))
      .trim()
      .split('\n')
    expect(lines.pop()).toBe('INFLUX_TOKEN_FILE=stint-token bun run start')
    await $`sh -ec ${lines.join('\n')}`.cwd(dir).quiet()
    const at = { url, org, bucket, token: readFileSync(join(dir, 'stint-token'), 'utf8').trim() }
    const sink = createInfluxSink({ ...at, retentionDays: 0, log: silent })
    expect(await sink.prepare()).toMatchObject({ kind: 'stored' })
    const stamp = { us: Date.now() * 1000, sub: 0 }
    await sink.write([{ kind: 'start', account: 'acc', process: 'job', meta: '', uid: '', stamp }])
    await sink.close()
    expect(await readRows(at, 'acc')).toHaveLength(1)
  })
})
