// Two accounts that use the same names at the same time: nothing of one is ever seen by the other, in no answer, figure or label, and the
// account of an event is that of its key whatever the event says.
import { expect, test } from 'bun:test'
import { chmodSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { engineMissing } from '../support/engine.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const CLIENTS = 4
const RUNS = 10
const WITHIN_MS = 90_000
const EMAILS = ['ada@example.com', 'eve@example.com'] as const

const QUESTIONS = [
  '/api/timings?limit=1000',
  '/api/timings?process=same%20name&meta=both&limit=1000',
  '/api/timings/latest',
  '/api/timings/summary?by=meta',
  '/api/metrics?limit=1000',
  '/api/metrics?every=1m',
  '/api/exceptions?limit=1000',
  '/api/exceptions/groups',
  '/api/outputs?limit=1000',
  '/api/processes',
  '/api/series',
  '/api/dead',
  '/api/overview',
  '/api/overview?process=same%20name',
  '/api/prometheus',
]

/** What only this one sends, in every field, beside the names that both use. */
async function send({ byKey: caller }: SignedUp, mark: string): Promise<void> {
  const sendRun = async (n: number) => {
    const common = { process: 'same name', meta: 'both', uid: `${mark}-${n}` }
    const calls: [string, object][] = [
      ['start', common],
      ['metrics', { process: 'same name', meta: 'both', items: { n, [`only ${mark}`]: 1 } }],
      ['exception', { process: 'same name', meta: 'both', exception: `boom of ${mark} ${n}` }],
      ['end', { ...common, output: `said by ${mark} ${n}` }],
      ['start', { process: `p ${mark}`, meta: `m ${mark}` }],
    ]
    for (const [kind, body] of calls) expect((await caller.post(`/v1/${kind}`, body)).status).toBe(201)
    const other = mark === 'adas' ? 'eves' : 'adas'
    for (const account of ['account', 'account_id']) // nobody says for whom they write
      expect((await caller.post('/v1/start', { process: `p ${other}`, [account]: 'acc_other' })).status).toBe(422)
  }
  let next = 0
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < RUNS) await sendRun(next++)
    }),
  )
}

test.skipIf(engineMissing !== undefined)(
  'two accounts with the same names see only their own, and other users of the machine no file of DATA_DIR',
  async () => {
    const dataDir = tempDir('isolation')
    chmodSync(dataDir, 0o755)
    await using stint = createStintProcess({ SIGNUP: 'open' }, { dataDir })
    await stint.start()
    const [ada, eve] = [await signUpAt(stint.url, EMAILS[0]), await signUpAt(stint.url, EMAILS[1])]
    const people = [
      { caller: ada, own: 'adas', other: 'eves', others: eve },
      { caller: eve, own: 'eves', other: 'adas', others: ada },
    ]
    /** Of all questions; none has anything of the other's. */
    const answers = async ({ caller, other, others }: (typeof people)[number]) => {
      const found = await Promise.all(QUESTIONS.map(async (path) => [path, await caller.byKey.get(path)] as const))
      for (const [path, { text }] of found)
        expect([path, text.includes(other) || text.includes(others.account)]).toEqual([path, false])
      return new Map(found)
    }
    const load = people.map(({ caller, own }) => send(caller, own))
    for (const one of people) await answers(one) // while both send
    await Promise.all(load)
    await untilShipped(stint.url, WITHIN_MS)

    for (const one of people) {
      const found = await answers(one)
      const { timings } = found.get(QUESTIONS[1]!)!.json as { timings: { uid: string; state: string }[] }
      expect(timings).toHaveLength(RUNS)
      expect(timings.every(({ uid, state }) => uid.startsWith(one.own) && state === 'completed')).toBe(true)
      const summary = found.get('/api/timings/summary?by=meta')!.json.rows as { process: string; count: number }[]
      expect(summary.find(({ process }) => process === 'same name')!.count).toBe(RUNS)
      const [live] = found.get('/api/overview?process=same%20name')!.json.processes
      expect(live.last_24h).toMatchObject({ runs: RUNS, exceptions: RUNS })
      expect(live.exception).toContain(`boom of ${one.own}`)
      const rows = found.get('/api/metrics?every=1m')!.json.rows as { name: string; count: number }[]
      expect(rows.filter(({ name }) => name === 'n').reduce((sum, { count }) => sum + count, 0)).toBe(RUNS)
    }

    const figures = await (await fetch(`${stint.url}/metrics`)).text()
    // The figures are totals: no account, key, address or name.
    expect(figures).toContain('stint_events_accepted_total')
    const secrets = [ada.secret.slice(0, 12), eve.secret.slice(0, 12)]
    for (const text of [...EMAILS, ...secrets, 'same name', 'both', 'adas', 'eves']) expect(figures).not.toContain(text)
    expect(figures).not.toMatch(/\b(?:acc|key)_[a-z0-9]{16}\b/)
    const { text: health } = await eve.byKey.get('/api/health')
    expect(health).not.toMatch(/total|reason|adas/)

    expect(await stint.terminate()).toBe(0)
    const entries = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    expect(entries).toContain('clickhouse')
    expect(entries.filter((entry) => (statSync(join(dataDir, entry)).mode & 0o077) !== 0)).toEqual([])
  },
)
