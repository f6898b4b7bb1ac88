// A usage error of a question exits with 2, whether the command line or the server finds it.
import { expect, test } from 'bun:test'
import type { Exception } from '../../../src/event/event.ts'
import { fingerprint } from '../../../src/event/fingerprint.ts'
import { useApp } from '../../support/app.ts'
import { createPerson } from '../cli-cast.ts'

const stored: Exception[] = []
const app = await useApp({ stored })

const run = (line: string, key = app.keys.reader) => createPerson(app.url).run(line, { env: { STINT_API_KEY: key } })

test.each([
  ['timings --limit abc', '--limit must be'],
  ['timings --limit 0', '--limit must be'],
  ['timings --state foo', '--state must be one of'],
  ['timings --from -1h --to -2h', '--from must be earlier'],
  ['metrics --every 5x', '--every must be'],
  ['summary --percentiles 50,NaN', '--percentiles must be'],
  ['summary --compare-from -30m', '--compare-from must be earlier than compare_to'],
  ['timings --sort duration --state running', '--sort goes with'],
  ['dead list --limit 0', '--limit must be'],
])('stint %s: a value that the server refuses', async (line, said) => {
  const { exitCode, stdout, stderr } = await run(line)
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`\n  ${said}`)
})

test.each([
  ['exceptions --groups --full', '--groups and --full exclude each other'],
  ['timings --json --csv', '--json and --csv exclude each other'],
  ['metrics --every 1h --all', '--every and --all exclude each other: intervals have no pages'],
])('stint %s: flags that mean nothing together', async (line, said) => {
  expect(await run(line)).toEqual({ exitCode: 2, stdout: '', stderr: `stint: ${said}\n` })
})

test('several processes, the metrics of their runs and two ranges are tables and CSV', async () => {
  const stint = (line: readonly string[]) =>
    createPerson(app.url).run(line, { env: { STINT_API_KEY: app.keys.reader } })
  const csv = async (line: readonly string[]) => {
    const { exitCode, stdout, stderr } = await stint([...line, '--csv'])
    expect([exitCode, stderr]).toEqual([0, ''])
    return stdout.split('\r\n')
  }
  const both = ['--process', 'a', '--process', 'b, "=1+1"']
  const metric = ['--metric', 'rows, all', '--metric', '=1+1']
  expect((await csv(['timings', ...both, ...metric, '--sort', 'duration']))[0]).toBe(
    'process,meta,uid,state,started_at,ended_at,duration_ms,exceptions,"metric_rows, all",metric_=1+1',
  )
  const summary = await csv(['summary', ...both, '--percentiles', '50,99.90', '--compare-from', '-8d'])
  expect(summary[0]).toStartWith(
    'process,count,mean_ms,p50_ms,p95_ms,p99_ms,max_ms,percentile_50_ms,percentile_99.9_ms',
  )
  expect(summary[0]).toEndWith('before_orphan,before_failure_rate')
  expect((await csv(['metrics', '--by', 'meta', '--every', '1h']))[0]).toStartWith('at,process,meta,name,count')
})

test('groups are resolved, ignored and reopened by a key that may manage; those not shown are counted', async () => {
  const account = app.account
  const raised = { kind: 'exception', account, meta: '', exception: 'disk full' } as const
  const stamp = { us: Date.now() * 1000 - 60_000_000, sub: 0 }
  stored.push({ ...raised, process: 'nightly', stamp }, { ...raised, process: 'q', stamp })
  const [ada] = await app.rooms.accounts.members.list(account)
  const { secret } = await app.rooms.accounts.keys.create(account, 'cli', ['read', 'manage'], ada!)
  const name = fingerprint('disk full')
  const ran = await run(`exceptions ignore ${name} --process q`, secret)
  expect(ran).toEqual({ exitCode: 0, stdout: '', stderr: `${name} is ignored in q.\n` })
  const listed = await run('exceptions --groups --text DISK', secret)
  expect(listed.stdout).toMatch(/^LAST +COUNT +STATUS +GROUP +PROCESS +NEWEST\n.+1 +unresolved .+nightly +disk full\n$/)
  expect(listed.stderr).toBe('1 ignored group is not shown; --status all shows them.\n')
  await run(`exceptions resolve ${name} --process nightly`, secret)
  expect((await run('exceptions --groups', secret)).stderr).toBe(
    'No exceptions in this range.\n1 resolved and 1 ignored groups are not shown; --status all shows them.\n',
  )
  const reopened = await run(`exceptions reopen ${name} --json`, secret)
  expect(JSON.parse(reopened.stdout).groups.map(({ status }: { status: string }) => status)).toEqual([
    'unresolved',
    'unresolved',
  ])
  expect((await run('exceptions resolve v4:00', secret)).exitCode).toBe(1)
  expect((await run(`exceptions resolve ${name}`)).exitCode).toBe(1)
})

test('a key without the scope is a refusal, not a usage error', async () => {
  expect((await run('timings', app.keys.writer)).exitCode).toBe(1)
})
