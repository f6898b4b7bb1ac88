// Variables that set nothing: which stop the start, which are warned about, and which are nobody's mistake.
import { expect, test } from 'bun:test'
import { ConfigError, readConfig } from '../src/config.ts'
import { findMisnamed } from '../src/setting-names.ts'
import { settingNames } from '../src/settings.ts'

const find = (env: Record<string, string>) => findMisnamed(env, settingNames())

test.each([
  ['INFLUXDB_URL', 'INFLUX_URL'],
  ['INFLUXDB_V2_TOKEN', 'INFLUX_TOKEN'],
  ['CLICKHOUSE_HOST', 'CLICKHOUSE_URL'],
  ['CLICKHOUSE_USERNAME', 'CLICKHOUSE_USER'],
  ['RETENTION', 'RETENTION_DAYS'],
  ['POSTGRES_URL', 'DATABASE_URL'],
  ['STINT_PORT', 'PORT'],
  ['STINT_INFLUX_TOKEN_FILE', 'INFLUX_TOKEN_FILE'],
])('%s stops the start and names %s', (name, setting) => {
  const readIt = () => readConfig({ [name]: '1' })
  expect(readIt).toThrow(ConfigError)
  expect(readIt).toThrow(`  ${name}: sets nothing; the setting is ${setting}`)
})

test('a setting that has its value, also from a file, makes the other name harmless', () => {
  const CLICKHOUSE_URL = 'http://clickhouse:8123'
  expect(readConfig({ CLICKHOUSE_URL, CLICKHOUSE_HOST: 'x' }).clickhouse?.url).toBe(CLICKHOUSE_URL)
  expect(find({ CLICKHOUSE_PASSWORD_FILE: '/run/password', CLICKHOUSE_PASS: 'x' }).refused).toEqual([])
})

test.each([
  ['RETENTION_DAY', 'RETENTION_DAYS'],
  ['RETENTOIN_DAYS', 'RETENTION_DAYS'],
  ['Influx_Url', 'INFLUX_URL'],
  ['CLICKHOUSEURL', 'CLICKHOUSE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['QUERY_MAX_MARK', 'QUERY_MAX_MARKS'],
  ['LOGLEVEL', 'LOG_LEVEL'],
])('%s is warned about', (name, setting) => {
  expect(find({ [name]: 'x' })).toEqual({ refused: [], suspicious: [`${name} sets nothing; did you mean ${setting}?`] })
  expect(() => readConfig({ [name]: '1' })).not.toThrow()
})

test('what Kubernetes and a client put into the environment is never looked at', () => {
  const env = {
    STINT_PORT: 'tcp://10.0.0.7:7070',
    STINT_SERVICE_HOST: '10.0.0.7',
    STINT_PORT_7070_TCP_ADDR: '10.0.0.7',
    CLICKHOUSE_SERVICE_PORT: '8123',
    INFLUXDB_PORT: 'tcp://10.0.0.8:8086',
    STINT_URL: 'http://127.0.0.1:7070',
    STINT_API_KEY: 'stint_x',
    HOSTNAME: 'web-1',
    PATH: '/usr/bin',
  }
  expect(find(env)).toEqual({ refused: [], suspicious: [] })
})
