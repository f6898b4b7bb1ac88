import { expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, readConfig } from '../src/config.ts'
import { isLoopback } from '../src/parse-settings.ts'
import { textOf } from '../src/secret.ts'
import { tempDir } from './support/temp-dir.ts'
import { until } from './support/until.ts'

const dir = tempDir('config')
const gone = join(dir, 'gone')
const there = join(dir, 'there')
writeFileSync(there, 'text')

function fileOf(text: string): string {
  const path = join(dir, crypto.randomUUID())
  writeFileSync(path, text)
  return path
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).problems
  }
}

test('reports each setting of a store that has no address', () => {
  const password = { CLICKHOUSE_PASSWORD_FILE: there, CLICKHOUSE_DATABASE: 'd', CLICKHOUSE_USER: 'u' }
  expect(problemsOf(password)).toEqual([
    'CLICKHOUSE_USER: is set, but CLICKHOUSE_URL is not',
    'CLICKHOUSE_PASSWORD_FILE: is set, but CLICKHOUSE_URL is not',
    'CLICKHOUSE_DATABASE: is set, but CLICKHOUSE_URL is not',
  ])
  expect(problemsOf({ TLS_KEY: there })).toEqual(['TLS_KEY: is set, but TLS_CERT is not'])
  expect(problemsOf({ MAIL_FROM: 'a@b.c' })).toEqual([])
  expect(problemsOf({ MAIL_FROM: 'nobody' })).toHaveLength(1)
  expect(problemsOf({ CLICKHOUSE_CLUSTER: 'c' })).toEqual(['CLICKHOUSE_CLUSTER: is set, but CLICKHOUSE_URL is not'])
  expect(problemsOf({ CLICKHOUSE_PASSWORD: 'p', INFLUX_ORG: 'o' })).toEqual([
    'INFLUX_ORG: is set, but INFLUX_URL is not',
    'CLICKHOUSE_PASSWORD: is set, but CLICKHOUSE_URL is not',
  ])
  expect(problemsOf({ ...password, CLICKHOUSE_URL: 'http://clickhouse:8123' })).toEqual([])
})

test('the name of a cluster is one that needs no escaping', () => {
  const CLICKHOUSE_URL = 'http://clickhouse:8123'
  expect(readConfig({ CLICKHOUSE_URL, CLICKHOUSE_CLUSTER: 'two-shards_1' }).clickhouse?.cluster).toBe('two-shards_1')
  expect(readConfig({ CLICKHOUSE_URL }).clickhouse?.cluster).toBeUndefined()
  for (const CLICKHOUSE_CLUSTER of ["o'clock", '{cluster}', '1st', 'a`b', ' c'])
    expect(problemsOf({ CLICKHOUSE_URL, CLICKHOUSE_CLUSTER })).toEqual([
      expect.stringMatching(/^CLICKHOUSE_CLUSTER=.*: must be the name of a cluster: letters, digits, _ and -$/),
    ])
})

test('an invalid store address is the only problem reported', () => {
  expect(problemsOf({ CLICKHOUSE_URL: 'clickhouse', CLICKHOUSE_USER: 'u' })).toEqual([
    expect.stringMatching(/^CLICKHOUSE_URL: must be an http/),
  ])
})

test('an invalid address does not hide problems of other settings', () => {
  expect(problemsOf({ INFLUX_URL: 'influxdb:8086', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' })).toEqual([
    expect.stringMatching(/^INFLUX_URL: /),
    'INFLUX_TOKEN: required together with INFLUX_URL',
  ])
})

test.each([
  'ftp://user:sekret@host',
  'http://user:sekret@host/db',
  'http://sekret@host',
  'http://:sekret@host',
  'http://user:sekret@[host',
  'http://host?password=sekret',
  'http://host#sekret',
])('rejects the store address %s without printing it', (address) => {
  const influx = { INFLUX_TOKEN: 't', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }
  const problems = problemsOf({ ...influx, INFLUX_URL: address, CLICKHOUSE_URL: address })
  expect(problems).toEqual([
    expect.stringMatching(/^INFLUX_URL: must be an http.* INFLUX_TOKEN$/),
    expect.stringMatching(/^CLICKHOUSE_URL: must be an http.* CLICKHOUSE_USER and CLICKHOUSE_PASSWORD$/),
  ])
  expect(problems.join()).not.toContain('sekret')
})

test.each([
  ['DATABASE_URL', 'mysql://u:sekret@host/d'],
  ['DATABASE_URL', 'postgres://u:100%sekret@host/d'],
  ['DATABASE_URL', 'postgres://u:sekret@host/d?sslmode=on'],
  ['SMTP_URL', 'smtp://u:100%sekret@host'],
  ['SMTP_URL', 'smtp://sekret%@host'],
])('reports an unusable %s %s with the other invalid settings, without printing it', (name, url) => {
  const problems = problemsOf({ [name]: url, MAIL_FROM: 'a@b.c', PORT: 'x' })
  expect(problems).toEqual([
    expect.stringContaining('PORT'),
    expect.stringMatching(new RegExp(`^${name}: must be .* %25`)),
  ])
  expect(problems.join()).not.toContain('sekret')
})

test.each(['', '?sslmode=verify-full'])('accepts an escaped password, and sslmode%s', (query) => {
  const DATABASE_URL = `postgres://u:100%25@host/d${query}`
  expect(readConfig({ DATABASE_URL, SMTP_URL: 'smtp://u:100%25@host', MAIL_FROM: 'a@b.c' })).toMatchObject({
    databaseUrl: DATABASE_URL,
  })
})

test('accepts a store address with a path and drops its trailing slash', () => {
  expect(readConfig({ CLICKHOUSE_URL: 'https://proxy:8443/clickhouse/' }).clickhouse?.url).toBe(
    'https://proxy:8443/clickhouse',
  )
})

test('reports an unreadable TLS file together with the other invalid settings, without its content', () => {
  const cert = fileOf('-----BEGIN CERTIFICATE-----\nsekret\n-----END CERTIFICATE-----\n')
  const key = fileOf('-----BEGIN PRIVATE KEY-----\nsekret\n-----END PRIVATE KEY-----\n')
  const port = expect.stringContaining('PORT')
  for (const [certPath, keyPath, problems] of [
    [gone, there, [`TLS_CERT=${gone}: the file cannot be read`, `TLS_KEY=${there}: contains no PRIVATE KEY in PEM`]],
    [
      `${there}/x`,
      dir,
      [expect.stringMatching(/^TLS_CERT=.* cannot be/), expect.stringMatching(/^TLS_KEY=.* cannot be/)],
    ],
    ['/dev/zero', key, ['TLS_CERT=/dev/zero: the file is larger than 64 KiB']],
    [cert, key, [expect.stringMatching(/^TLS_CERT and TLS_KEY: cannot be used together/)]],
    [key, cert, [`TLS_CERT=${key}: contains no CERTIFICATE in PEM`, `TLS_KEY=${cert}: contains no PRIVATE KEY in PEM`]],
    [cert, '', ['TLS_KEY: required together with TLS_CERT']],
  ] as const) {
    const told = problemsOf({ TLS_CERT: certPath, TLS_KEY: keyPath, PORT: 'x' })
    expect(told).toEqual([port, ...problems])
    expect(told.join()).not.toContain('sekret')
  }
})

test.each([
  ['a device without end', () => '/dev/zero', 'is larger than 64 KiB'],
  ['a file of more than 64 KiB', () => fileOf('x'.repeat(65_537)), 'is larger than 64 KiB'],
  ['a directory', () => dir, 'cannot be read'],
  ['an empty file', () => fileOf('\n'), 'is empty'],
])('does not read a secret from %s', (_, path, fault) => {
  expect(problemsOf({ SETUP_CODE_FILE: path() })).toEqual([`SETUP_CODE_FILE: the file ${fault}`])
})

test('refuses a setup code that can be guessed, without printing it', () => {
  expect(problemsOf({ SETUP_CODE: 'open sesame' })).toEqual(['SETUP_CODE: must be at least 12 characters'])
})

test.each(['localhost.example.com', '127.mail.example', '127.0.0.1.example'])('%s is not this machine', (host) => {
  expect(isLoopback(host)).toBe(false)
})

test('accepts a secret of 64 KiB', () => {
  expect(textOf(readConfig({ SETUP_CODE_FILE: fileOf('x'.repeat(65_536)) }).setupCode!)).toHaveLength(65_536)
})

test('a secret is read again when its file has changed, within a second; what is invalid is not used', async () => {
  const path = fileOf('the first secret')
  const notes: unknown[] = []
  const { setupCode } = readConfig({ SETUP_CODE_FILE: path }, (...note) => void notes.push(note))
  const current = () => textOf(setupCode!)
  expect(current()).toBe('the first secret')
  for (const [text, expected] of [
    ['too short', 'the first secret'],
    ['', 'the first secret'],
    ['the second secret', 'the second secret'],
  ] as const) {
    const before = notes.length
    writeFileSync(path, `${text}\n`)
    await until('a note', () => current() === expected && notes.length > before, 5_000)
  }
  rmSync(path)
  await Bun.sleep(1_100)
  expect(current()).toBe('the second secret')
  expect(notes).toEqual([false, false, true].map((isValid) => ['SETUP_CODE', isValid]))
})

test('reads a secret from a pipe', () => {
  const read = `console.log((await import('${join(import.meta.dir, '../src/config.ts')}')).readConfig().setupCode)`
  const shell = 'SETUP_CODE_FILE=<(echo first; echo second) exec "$0" -e "$1"'
  const { stdout } = Bun.spawnSync(['bash', '-c', shell, process.execPath, read], {
    env: { PATH: process.env.PATH ?? '' },
  })
  expect(stdout.toString()).toBe('first\nsecond\n')
})

test('reports an unreadable secret file as one problem', () => {
  const influx = { INFLUX_URL: 'http://influxdb:8086', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }
  expect(problemsOf({ ...influx, INFLUX_TOKEN_FILE: gone })).toEqual(['INFLUX_TOKEN_FILE: the file cannot be read'])
  expect(problemsOf(influx)).toEqual(['INFLUX_TOKEN: required together with INFLUX_URL'])
})

test.each(['sek\nret', 'sek\rret', 'sek\u0000ret', 'sek\u007fret', 'sekrét', 'sek€ret'])(
  'rejects a token that is not valid in a header, without printing it: %j',
  (token) => {
    const influx = { INFLUX_URL: 'http://influxdb:8086', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }
    const refused = [expect.stringMatching(/^INFLUX_TOKEN: must be .* ASCII/)]
    const inFile = fileOf(`${token}\n`)
    for (const given of [{ INFLUX_TOKEN: token }, { INFLUX_TOKEN_FILE: inFile }]) {
      const problems = problemsOf({ ...influx, ...given })
      expect(problems).toEqual(refused)
      expect(problems.join()).not.toMatch(/sek|ret/)
    }
  },
)

test('ignores a trailing line break in a token file', () => {
  const influx = { INFLUX_URL: 'http://influxdb:8086', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }
  expect(textOf(readConfig({ ...influx, INFLUX_TOKEN_FILE: fileOf('a-token==\r\n') }).influx!.token)).toBe('a-token==')
})

test.each([
  ['MAX_RUN', ['3661d', '99999999d', '9999999999s', '0s'], '3660d', 'from 1s to 3660d'],
  ['SPOOL_MAX_BYTES', ['8192TiB', '9007199254740992', '0'], '8191TiB', 'more than 0 and less than 8192TiB'],
  ['SERIES_MAX', ['9007199254740991'], '999999999999999', 'from 0 to 999999999999999'],
  ['TRUST_PROXY', ['100'], '99', 'at most 99'],
] as const)('reports a value out of range for %s with the bounds', (name, tooMuch, most, bounds) => {
  for (const text of tooMuch) expect(problemsOf({ [name]: text })).toEqual([expect.stringContaining(bounds)])
  expect(problemsOf({ [name]: most })).toEqual([])
})

test.each(['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1', 'localhost', 'stint', 'a-b.example.org', 'my_host', 'x.y.'])(
  'HOST may be %s',
  (host) => expect(readConfig({ HOST: host }).host).toBe(host),
)

test.each(['http://localhost', 'localhost:7070', '[::1]', 'a b', '999.0.0.1', '1.2.3', '-a', 'a..b', '::g'])(
  'rejects HOST=%s',
  (host) => expect(problemsOf({ HOST: host })).toEqual([expect.stringMatching(/^HOST=".*": must be an address/)]),
)

test('rejects a retention shorter than MAX_AGE, which would drop accepted events', () => {
  expect(problemsOf({ RETENTION_DAYS: '7' }).join()).toContain(
    'RETENTION_DAYS=7: must be at least MAX_AGE and one day (8 days)',
  )
  expect(problemsOf({ RETENTION_DAYS: '8' })).toEqual([])
  expect(problemsOf({ RETENTION_DAYS: '3', MAX_AGE: '2d' })).toEqual([])
})
