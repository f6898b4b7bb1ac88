// The page about existing servers against the code: its commands run on a real InfluxDB, its SQL is the code's own, and its
// uids are those of the dashboards.
import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { $, Glob } from 'bun'
import { MIGRATIONS } from '../../src/store/clickhouse/migrations.ts'
import { createSchema } from '../../src/store/clickhouse/schema.ts'
import { signUpAt } from '../support/caller.ts'
import { engineMissing } from '../support/engine.ts'
import { influxd, influxdMissing } from '../support/influxd.ts'
import { createStintProcess } from '../support/process.ts'
import { ROOT, readRepo, sectionUnder, tableUnder } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const PAGE = 'src/deploy/existing.md'
const blocksOf = (heading: string, language: string): string[] =>
  [...sectionUnder(PAGE, heading).matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, text]) => text!,
  )

test('the statements for the new tables of 2.0 are those that Stint runs', () => {
  const plain = (sql: string) => sql.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')').trim()
  const own = MIGRATIONS.filter(({ isAddition }) => isAddition).flatMap(({ statements }) =>
    statements({ schema: createSchema('stint'), retentionDays: 0, embedded: false }),
  )
  const printed = blocksOf('New tables in 2.0', 'sql')[0]!.split(';').map(plain).filter(Boolean)
  expect(printed).toEqual(own.map((sql) => plain(sql.replaceAll('`', ''))))
})

test('the dashboards use the data sources of the table, and no other', () => {
  const table = tableUnder(PAGE, 'Grafana').map(([uid]) => uid!.replaceAll('`', ''))
  const dir = 'src/deploy/grafana/dashboards'
  const used = [...new Glob('*/*.json').scanSync(join(ROOT, dir))].flatMap((file) =>
    [...readRepo(`${dir}/${file}`).matchAll(/"datasource": \{[^}]*?"uid": "(\w[^"]*)"/gs)].map(([, uid]) => uid!),
  )
  expect([...new Set(used)].sort()).toEqual(table.toSorted())
})

describe.skipIf((influxdMissing ?? engineMissing) !== undefined)('the commands for InfluxDB', () => {
  test('make a bucket and a token with which Stint stores and answers', async () => {
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
    await using stint = createStintProcess({
      ...{ INFLUX_URL: url, INFLUX_ORG: org, INFLUX_BUCKET: bucket },
      INFLUX_TOKEN_FILE: join(dir, 'stint-token'),
    })
    await stint.start()
    const { byKey } = await signUpAt(stint.url, 'ada@example.com')
    await byKey.post('/v1/start', { process: 'job' })
    await byKey.post('/v1/end', { process: 'job' })
    const stateOf = async () => (await byKey.get('/api/timings')).json.timings[0]?.state
    await until('the run is in InfluxDB', async () => (await stateOf()) === 'completed')
    const { destinations } = (await byKey.get('/api/health')).json
    expect(destinations.points).toMatchObject({ store: 'influxdb' })
  })
})
