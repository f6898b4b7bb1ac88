import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { readConfig } from '../../src/config.ts'
import { noteStores } from '../../src/service/note-stores.ts'
import { inMemoryDir } from '../support/temp-dir.ts'

const SERVER = { CLICKHOUSE_URL: 'http://127.0.0.1:9' }
const INFLUX = { INFLUX_URL: 'http://127.0.0.1:9', INFLUX_TOKEN: 'secret', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }

/** The stores that a start names as former ones. */
function formerAt(dataDir: string, env: Readonly<Record<string, string>>): string[] {
  const lines: { store: string; msg: string }[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  noteStores(readConfig({ DATA_DIR: dataDir, ...env }), log)
  for (const { msg } of lines) expect(msg).toContain('deleting an account does not reach them there')
  return lines.map(({ store }) => store)
}

test('a start names the stores of the start before that are not configured any more, once and without credentials', () => {
  const dataDir = inMemoryDir()
  expect(formerAt(dataDir, {})).toEqual([])
  expect(formerAt(dataDir, INFLUX)).toEqual([]) // exceptions are in the engine
  expect(formerAt(dataDir, SERVER)).toEqual(['influxdb http://127.0.0.1:9, bucket b of o', 'the embedded ClickHouse'])
  expect(formerAt(dataDir, SERVER)).toEqual([])
  expect(readFileSync(join(dataDir, 'stores'), 'utf8')).toBe(
    '{"kind":"clickhouse","place":"http://127.0.0.1:9, database default"}\n',
  )
  formerAt(dataDir, INFLUX)
  expect(readFileSync(join(dataDir, 'stores'), 'utf8')).not.toContain('secret')
})

test('the file of 2.0 is read, and a damaged one stops no start', () => {
  const dataDir = inMemoryDir()
  writeFileSync(join(dataDir, 'stores'), '{"kind":"embedded","place":"","holds":["points"],"copied":["points"]}\n')
  expect(formerAt(dataDir, SERVER)).toEqual(['the embedded ClickHouse'])
  writeFileSync(join(dataDir, 'stores'), '{"kind":\n')
  expect(formerAt(dataDir, SERVER)).toEqual(['{"kind":'])
  expect(formerAt(dataDir, SERVER)).toEqual([])
})
