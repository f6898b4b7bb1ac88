// `bun test/hardening/attack-strangers.ts`: what strangers can cost others with SIGNUP=open, as a table. Guesses from 65,536 networks at a
// sign-in, e-mails to somebody who did not ask, and keys among 100,000 accounts on two nodes of one PostgreSQL. Counts work where it can:
// hashes before a right password, e-mails, rows; times are of this machine as busy as it is.
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { coarserNetwork } from '../../src/account/networks.ts'
import { createPasswordLine } from '../../src/account/password-line.ts'
import { createTokenBuckets } from '../../src/account/token-buckets.ts'
import { Problem } from '../../src/problem.ts'
import { run } from '../../src/state/database.ts'
import { openPostgres } from '../../src/state/postgres.ts'
import { ADA, createManualClock, freshDir, openFresh, openShared } from '../account/accounts-cast.ts'
import { startPostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const NETWORKS = 65_536
const ACCOUNTS = Number(process.argv[2] ?? 100_000)
const AT_ONCE = 5_000

const table: [attack: string, figure: string, wanted: string][] = []
const ipv6 = (site: string, i: number) => `2001:db8:${site}:${i.toString(16)}::/64`

/** Hashes that end before that of the asker who came last. */
async function hashesBefore(asker: { readonly name: string; readonly isKnown: boolean }): Promise<number> {
  const begun: string[] = []
  const inTurn = createPasswordLine(async (who: string) => {
    begun.push(who)
    await Bun.sleep(0)
  })
  const guesses = Array.from({ length: NETWORKS }, (_, i) =>
    inTurn('guess', { name: ipv6('bbbb', i), isKnown: false }).catch(() => {}),
  )
  await inTurn('right', asker)
  const before = begun.indexOf('right')
  await Promise.all(guesses)
  return before
}

async function attackSignIn(): Promise<void> {
  const known = await hashesBefore({ name: '203.0.113.7', isKnown: true })
  const stranger = await hashesBefore({ name: '198.51.100.7', isKnown: false })
  table.push(['hashes before a right password of a known network', String(known), 'at most 2'])
  table.push(['hashes before a right password of another site', String(stranger), 'at most 2'])
  const limits = createTokenBuckets({
    ...{ clock: createManualClock(), limit: 50, windowS: 900, maxEntries: 10_000, coarser: coarserNetwork },
  })
  limits.take('198.51.100.7')
  let allowed = 0
  for (let i = 0; i < NETWORKS; i++) if (limits.take(ipv6('bbbb', i)) === 0) allowed++
  let left = 0
  while (limits.take('198.51.100.7') === 0) left++
  table.push(['guesses of 65,536 networks that were let in', String(allowed), 'about 10,000 + 50'])
  table.push(['attempts that another network has left of 49', String(left), '49'])
}

async function attackMail(): Promise<void> {
  await using accounts = openFresh({ isMailed: true })
  await accounts.create(ADA)
  let sent = 0
  for (let i = 0; i < 1000; i++) if (await accounts.strangerMails.take('victim@example.com')) sent++
  table.push(['e-mails to one address of 1,000 asked for', String(sent), '3'])
  let links = 0
  for (let i = 0; i < 1000; i++) {
    try {
      await accounts.strangerMails.countLink(`2001:db8:5:${i.toString(16)}::1`)
      links++
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  }
  table.push(['links that 1,000 networks of one site get a day', String(links), '20'])
}

async function attackKeys(): Promise<void> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const postgres = openPostgres(url)
  const emptyMs = await cpuOf(async () => (await openShared(await server.createDatabase())).close())
  for (let from = 0; from < ACCOUNTS; from += AT_ONCE) await postgres.write(() => insertAccounts(from))
  const replicaPath = join(freshDir(), 'known-keys.sqlite')
  const firstMs = await cpuOf(async () => (await openShared(url, { replicaPath })).close())
  const againMs = await cpuOf(async () => (await openShared(url, { replicaPath })).close())
  table.push([
    `CPU of a first start with ${ACCOUNTS} keys, more than with none`,
    `${ms(firstMs - emptyMs)}`,
    '2,000 ms',
  ])
  table.push(['CPU of the next start, more than with none', ms(againMs - emptyMs), '2,000 ms'])

  const [a, b] = [await openShared(url, { replicaPath }), await openShared(url)]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  Bun.gc(true) // of what the start left
  delay.enable()
  await Bun.sleep(3000)
  table.push(['longest turn while nothing happens', ms(delay.max / 1e6), '20 ms'])
  delay.reset()
  const keyMs = await timeOf(async () => {
    const { secret } = await a.keys.create('acc_0', 'new', ['write'])
    await until('the other node knows it', () => b.findKey(secret) !== undefined)
  })
  table.push(['from a new key to its use on the other node', ms(keyMs), '1,000 ms'])
  table.push(['longest turn of the event loop meanwhile', ms(delay.max / 1e6), '20 ms'])
  delay.reset()
  const goneMs = await timeOf(async () => {
    await postgres.write(deleteThousand)
    await until('both have learned of it', () => [a, b].every((node) => node.removals().length >= 1000))
  })
  table.push(['1,000 deletions at once, known on both nodes', ms(goneMs), '–'])
  delay.disable()
  table.push(['longest turn of the event loop meanwhile', ms(delay.max / 1e6), '20 ms'])
  await Promise.all([a.close(), b.close(), postgres.close()])
  await server.close()
}

function* insertAccounts(from: number) {
  const many = `generate_series(${from}, ${from + AT_ONCE - 1}) i`
  yield* run(
    `INSERT INTO account (id, name, email, operator, created_ms) SELECT 'acc_' || i, 'a', 'a', 0, 0 FROM ${many}`,
  )
  yield* run(`INSERT INTO api_key (id, account, name, prefix, hash, may_write, may_read, created_ms)
    SELECT 'key_' || i, 'acc_' || i, 'k', 'p', encode(sha256(i::text::bytea), 'hex'), 1, 1, 0 FROM ${many}`)
}

function* deleteThousand() {
  yield* run(`WITH gone AS (DELETE FROM account WHERE id IN (SELECT 'acc_' || i FROM generate_series(1, 1000) i) RETURNING id)
    INSERT INTO removal SELECT id, 0 FROM gone`)
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const ms = (value: number) => `${Math.round(value).toLocaleString('en-US')} ms`

await attackSignIn()
await attackMail()
await attackKeys()
const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]!.length)))
for (const [attack, figure, wanted] of [['attack', 'measured', 'wanted'] as const, ...table])
  console.log(`${attack.padEnd(widths[0]!)}  ${figure.padEnd(widths[1]!)}  ${wanted}`)
process.exit(0)
