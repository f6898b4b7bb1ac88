// `bun run bench accounts [--seconds N] [--rounds N] [--accounts N] [--keys N] [--json]`: does it cost anything at intake and at the start to have
// many accounts and keys? One Stint with a single account beside one with a thousand of ten keys each, measured in turn. Points are bound for
// an InfluxDB that is away: so the budget of series counts for every account, and nothing but intake is done.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openAccounts } from '../../src/account/open-accounts.ts'
import { systemClock } from '../../src/clock.ts'
import { createLog } from '../../src/log.ts'
import { createStintProcess, type StintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { inWords, median, surroundings } from './machine.ts'

interface Case {
  readonly what: string
  readonly stint: StintProcess
  /** Requests bear one after the other. */
  readonly secrets: readonly string[]
  readonly perSecond: number[]
  readonly cpuUs: number[]
}

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    accounts: { type: 'string', default: '1000' },
    keys: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const [manyAccounts, keysEach] = [Number(values.accounts), Number(values.keys)]
const say = (text: string) => process.stderr.write(`${text}\n`)

const CONNECTIONS = 64
const STARTS = 3
/** Nobody listens at the port of "discard". */
const AWAY = { INFLUX_URL: 'http://127.0.0.1:9', INFLUX_TOKEN: 't', INFLUX_ORG: 'o', INFLUX_BUCKET: 'b' }
const SETTINGS = { NODE_ENV: 'production', LOG_LEVEL: 'error', ...AWAY }
const BODY = JSON.stringify({
  process: 'nightly import',
  meta: 'region eu',
  uid: '3f2a9c1e-1b2c-4d5e-8f90-123456789abc',
})

const dir = tempDir('accounts')
const hasTwoCores = cpus().length > 1
const pinned = (core: number, command: string[]) =>
  hasTwoCores ? ['taskset', '-c', String(core), ...command] : command

/** Accounts with keys, made past HTTP before the start. */
async function makeKeys(dataDir: string, accountCount: number, keyCount: number): Promise<string[]> {
  const accounts = openAccounts({
    path: join(dataDir, 'accounts.sqlite'),
    clock: systemClock,
    log: createLog({ level: 'warn', pretty: false }),
    signup: 'open',
    signUpsMax: accountCount,
  })
  const secrets: string[] = []
  for (let i = 0; i < accountCount; i++) {
    const { account, key } = await accounts.create({
      email: `bench-${i}@example.com`,
      password: crypto.randomUUID(),
      address: '127.0.0.1',
    })
    secrets.push(key.secret)
    for (let k = 1; k < keyCount; k++)
      secrets.push((await accounts.keys.create(account.id, `key ${k}`, ['write'])).secret)
    if (i % 100 === 99) say(`${i + 1} accounts made`)
  }
  await accounts.close()
  return secrets
}

/** Until it is ready, the medians of some starts. It runs afterwards. */
async function timeStart(stint: StintProcess): Promise<{ ms: number; cpuMs: number }> {
  const times: number[] = []
  const cpuTimes: number[] = []
  for (let i = 0; i < STARTS; i++) {
    if (i > 0) await stint.terminate()
    times.push(await stint.start())
    cpuTimes.push(cpuMs(stint.pid()))
  }
  if (hasTwoCores) Bun.spawnSync(['taskset', '-apc', '0', String(stint.pid())])
  return { ms: Math.round(median(times)), cpuMs: Math.round(median(cpuTimes)) }
}

/** The requests are made before the load begins, so that a key costs the client the same whether it is the same one or another. */
const script = (secrets: readonly string[]) => `
local requests = {}
function init()
  for secret in io.lines(${JSON.stringify(join(dir, `${secrets.length}.keys`))}) do
    requests[#requests + 1] = wrk.format("POST", "/v1/start",
      { ["content-type"] = "application/json", ["x-stint-api-key"] = secret }, '${BODY}')
  end
end
local n = 0
function request()
  n = n % #requests + 1
  return requests[n]
end
function done(summary)
  io.write(string.format('\\n{"requests":%d,"us":%d,"unexpected":%d}\\n', summary.requests, summary.duration, summary.errors.status))
end`

async function shoot({ what, stint, secrets, perSecond, cpuUs }: Case, isCounted: boolean): Promise<void> {
  const lua = join(dir, 'shot.lua')
  writeFileSync(join(dir, `${secrets.length}.keys`), `${secrets.join('\n')}\n`)
  writeFileSync(lua, script(secrets))
  const cpuBefore = cpuMs(stint.pid())
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${isCounted ? seconds : 1}s`, '-s', lua, stint.url]
  const wrk = Bun.spawn(pinned(1, ['wrk', ...args]), { stderr: 'inherit' })
  const line = (await new Response(wrk.stdout).text()).split('\n').find((text) => text.startsWith('{"requests"'))
  if (line === undefined) throw new Error('wrk printed no figures')
  const { requests, us, unexpected } = JSON.parse(line) as Record<'requests' | 'us' | 'unexpected', number>
  if (unexpected > 0) throw new Error(`${what}: ${unexpected} answers were no 201`)
  if (!isCounted) return
  perSecond.push(requests / (us / 1e6))
  cpuUs.push(((cpuMs(stint.pid()) - cpuBefore) / requests) * 1000)
  say(`${what}: ${Math.round(perSecond.at(-1)!)}/s`)
}

const before = surroundings()
const stints = ['one', 'many'].map((name) =>
  createStintProcess({ ...SETTINGS }, { dataDir: mkdtempSync(join(dir, name)) }),
)
const [one, many] = stints as [StintProcess, StintProcess]
try {
  const oneSecrets = await makeKeys(one.dataDir, 1, 1)
  const manySecrets = await makeKeys(many.dataDir, manyAccounts, keysEach)
  const starts = { one: await timeStart(one), many: await timeStart(many) }
  const crowd = `${manyAccounts} accounts with ${keysEach} keys each`
  const caseOf = (what: string, stint: StintProcess, secrets: readonly string[]): Case => ({
    what,
    stint,
    secrets,
    perSecond: [],
    cpuUs: [],
  })
  const cases = [
    caseOf('1 account, 1 key', one, oneSecrets),
    caseOf(`${crowd}, 1 key in use`, many, manySecrets.slice(0, 1)),
    caseOf(`${crowd}, all in use`, many, manySecrets),
  ]
  for (const each of cases) await shoot(each, false)
  for (let round = 0; round < rounds; round++) for (const each of cases) await shoot(each, true)

  const base = cases[0]!
  const rows = cases.map(({ what, perSecond, cpuUs }) => ({
    what,
    perSecond: Math.round(median(perSecond)),
    /** Of each round, to the first case of that round. */
    ratio: Number(median(perSecond.map((rate, round) => rate / base.perSecond[round]!)).toFixed(3)),
    cpuUs: Number(median(cpuUs).toFixed(1)),
    cpuRatio: Number(median(cpuUs.map((us, round) => us / base.cpuUs[round]!)).toFixed(3)),
  }))
  const after = surroundings()
  if (values.json) console.log(JSON.stringify({ before, after, rows, starts }))
  else {
    console.log(
      `\n${inWords(before, after)}\n/v1/start, ${CONNECTIONS} connections, ${rounds} rounds of ${seconds} s, medians\n`,
    )
    console.table(rows)
    console.log('start to ready:')
    console.table({ '1 account': starts.one, [crowd]: starts.many })
  }
} finally {
  await Promise.all(stints.map((stint) => stint.close()))
  rmSync(dir, { recursive: true, force: true })
}
