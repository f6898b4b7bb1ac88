// Two accounts that use the same names at the same time, with dead letters of each: nothing of one is ever seen by the other, in no answer,
// figure or label, and the account of an event is that of its key whatever the event says.
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/clock.ts'
import { buryIn } from '../support/bury.ts'
import { type SignedUp, signUpAt } from '../support/caller.ts'
import { engineMissing } from '../support/engine.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'

const CLIENTS = 4
const RUNS = 25
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
]

/** What only this one sends, in every field, beside the names that both use. */
async function load({ byKey: caller }: SignedUp, mark: string): Promise<void> {
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

test.skipIf(engineMissing !== undefined)('two accounts with the same names see only their own', async () => {
  await using stint = createStintProcess({ SIGNUP: 'open' })
  await stint.start()
  const [ada, eve] = [await signUpAt(stint.url, EMAILS[0]), await signUpAt(stint.url, EMAILS[1])]
  const people = [
    { caller: ada, own: 'adas', other: 'eves', others: eve },
    { caller: eve, own: 'eves', other: 'adas', others: ada },
  ]
  const answers = async ({ byKey }: SignedUp) =>
    Promise.all(QUESTIONS.map(async (path) => [path, await byKey.get(path)] as const))
  let isOver = false
  const watch = people.map(async ({ caller, other, others }) => {
    while (!isOver)
      for (const [path, { text }] of await answers(caller))
        expect([path, text.includes(other) || text.includes(others.account)]).toEqual([path, false])
  })
  await Promise.all(people.map(({ caller, own }) => load(caller, own)))
  await untilShipped(stint.url, WITHIN_MS)
  isOver = true
  await Promise.all(watch)

  for (const { caller, own } of people) {
    const found = new Map(await answers(caller))
    const { timings } = found.get(QUESTIONS[1]!)!.json as { timings: { uid: string; state: string }[] }
    expect(timings).toHaveLength(RUNS)
    expect(timings.every(({ uid, state }) => uid.startsWith(own) && state === 'completed')).toBe(true)
    const summary = found.get('/api/timings/summary?by=meta')!.json.rows as { process: string; count: number }[]
    expect(summary.find(({ process }) => process === 'same name')!.count).toBe(RUNS)
    const rows = found.get('/api/metrics?every=1m')!.json.rows as { name: string; count: number }[]
    expect(rows.filter(({ name }) => name === 'n').reduce((sum, { count }) => sum + count, 0)).toBe(RUNS)
  }

  // One dead letter each, put where the shippers put them.
  await stint.terminate()
  buryIn(
    stint.dataDir,
    people.map(({ caller, own }) => ({
      destination: 'exceptions',
      account: caller.account,
      reason: `refused for ${own}`,
      record: JSON.stringify(['x', systemClock.wallUs(), 0, caller.account, 'same name', '', `dead of ${own}`]),
    })),
  )
  await stint.start()
  for (const { caller, own, other, others } of people) {
    const { text } = await caller.byKey.get('/api/dead')
    expect(text).toContain(`dead of ${own}`)
    expect(text).not.toContain(other)
    const path = `/api/dead/${(await others.byKey.get('/api/dead')).json.dead[0].id}`
    expect((await caller.byKey.post(`${path}/replay`, {})).status).toBe(404)
    expect((await caller.byKey.delete(path)).status).toBe(404)
  }

  await untilShipped(stint.url, WITHIN_MS)
  // What a stranger tried to replay went nowhere: since this start nothing was delivered.
  const figures = await (await fetch(`${stint.url}/metrics`)).text()
  expect(figures).not.toMatch(/^stint_delivered_total\{.*\} [1-9]/m)

  // The figures are totals: no account, key, address or name.
  expect(figures).toContain('stint_events_accepted_total')
  const secrets = [ada.secret.slice(0, 12), eve.secret.slice(0, 12)]
  for (const text of [...EMAILS, ...secrets, 'same name', 'both', 'adas', 'eves']) expect(figures).not.toContain(text)
  expect(figures).not.toMatch(/\b(?:acc|key)_[a-z0-9]{16}\b/)
  const { text: health } = await eve.byKey.get('/api/health')
  expect(health).not.toMatch(/total|reason|adas|refused for/)
})
