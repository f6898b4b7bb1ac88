// The real process is killed, stopped and paused around due moments of ten jobs, beside healthy ones: nothing false
// fires, no alert ends without its event, and every missed start and hung run is reported 30 s and one limit (or interval
// and grace) after the downtime at the latest. The three ways run at once, because they only wait. By default time passes
// four times as fast, so that a busy machine still sends within the grace; STINT_REAL_TIME=1 takes the wall clock's time
// (four minutes).
import { expect, test } from 'bun:test'
import { createCaller, signUpAt } from '../support/caller.ts'
import { missing } from '../support/needs.ts'
import { createStintProcess } from '../support/process.ts'
import { createQuickProcess } from '../support/quick-clock.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const isReal = process.env.STINT_REAL_TIME === '1'
const SPEED = isReal ? 1 : 4
const create = () => {
  const env = { NOTIFY_PRIVATE: 'true', LOG_LEVEL: 'warn' }
  return isReal ? { ...createStintProcess(env), nowMs: () => Date.now() } : createQuickProcess(env, SPEED)
}
const LONGEST_MS = 1_500_000

const EVERY_MS = 30_000
const GRACE_MS = 20_000
const CRON_MS = 60_000
/** How long after a downtime nothing fires. */
const QUIET_MS = 30_000
const SLACK_MS = 15_000
/** From the end of the downtime to the last alert, that of the cron expression. */
const LATEST_MS = QUIET_MS + CRON_MS + GRACE_MS + SLACK_MS
const EVERY = { late: { every: '30s', grace: '20s' } }
const LONG = { long: '30s' }
/** How long before the downtime something is due, in seconds. */
const OFFSETS = [-28, -22, -15, -8, -3, 1, 5, 10, 15, 25]
const HEALTHY = 12

interface Event {
  readonly atMs: number
  readonly kind: 'start' | 'end' | 'exception'
  readonly body: { readonly process: string; readonly at: string }
}
interface Body {
  readonly type: string
  readonly data: { process: string; condition: string; ended_by: string | null; since: string; summary: string }
}

const WAYS = {
  'kill -9': async (stint: ReturnType<typeof create>) => {
    await stint.kill()
    await stint.start()
  },
  SIGTERM: async (stint: ReturnType<typeof create>) => {
    await stint.terminate()
    await stint.start()
  },
  'SIGSTOP for 45 s': async (stint: ReturnType<typeof create>) => {
    const pid = stint.pid()
    process.kill(pid, 'SIGSTOP')
    await Bun.sleep(45_000 / SPEED)
    process.kill(pid, 'SIGCONT')
  },
}

for (const [name, interrupt] of Object.entries(WAYS))
  test.skipIf(missing('chdb') !== undefined).concurrent(
    `${name} around due moments hides nothing, ends nothing and invents nothing`,
    async () => {
      const stint = create()
      const receiver = startReceiver()
      try {
        await stint.start()
        const { bySession, secret } = await signUpAt(stint.url)
        const caller = createCaller(stint.url, { key: secret })
        const hook = await bySession.post('/api/channels', { name: 'hook', kind: 'webhook', url: receiver.url })
        const watch = async (process: string, conditions: object) => {
          const made = await bySession.post('/api/watches', {
            ...{ name: process, process, channels: [hook.json.channel.id] },
            ...conditions,
          })
          expect(made.status).toBe(201)
        }
        const ids = OFFSETS.map((_, i) => i)
        for (const i of ids) {
          await watch(`dead ${i}`, EVERY)
          await watch(`hangs ${i}`, LONG)
        }
        for (let i = 0; i < HEALTHY; i++) await watch(`healthy ${i}`, { ...EVERY, ...LONG, failed: {}, slow: 3 })
        await watch('silent', EVERY)
        await watch('broken', { failed: { after: 1 } })
        await watch('threw', { failed: { exceptions: true } })
        await watch('stuck', LONG)

        const bornMs = stint.nowMs()
        // the downtime begins 5 s after the first due time of the cron expression, and late enough for what fires before it
        const cronMs = Math.floor(bornMs / 1000) * 1000 + CRON_MS
        const cron = `${new Date(cronMs).getUTCSeconds()} * * * * *`
        await watch('dead cron', { late: { cron, tz: 'UTC', grace: '20s' } })
        const downMs = cronMs + 5_000
        /** Healthy jobs go past the end of the test. */
        const lastMs = downMs + 300_000
        const events: Event[] = []
        const add = (kind: Event['kind'], process: string, atMs: number, more: object = {}) =>
          events.push({ atMs, kind, body: { process, ...more, at: new Date(atMs).toISOString() } })
        for (const i of ids) {
          const dueMs = downMs - OFFSETS[i]! * 1000
          for (let at = dueMs - EVERY_MS; at > bornMs; at -= EVERY_MS) add('start', `dead ${i}`, at)
          add('start', `hangs ${i}`, dueMs - EVERY_MS, { uid: `run-${i}` })
        }
        for (let i = 0; i < HEALTHY; i++)
          for (let at = bornMs + 2000 + i * 2500, n = 0; at < lastMs; at += EVERY_MS, n++) {
            add('start', `healthy ${i}`, at, { uid: `${n}` })
            add('end', `healthy ${i}`, at + 6000 + (n % 3) * 500, { uid: `${n}` })
          }
        add('start', 'broken', bornMs + 3000, { uid: 'b' })
        add('end', 'broken', bornMs + 4000, { uid: 'b', failed: true })
        add('start', 'threw', bornMs + 3000, { uid: 't' })
        add('exception', 'threw', bornMs + 3500, { uid: 't', exception: 'ValueError: no rows' })
        add('start', 'stuck', bornMs + 3000, { uid: 's' })
        events.sort((a, b) => a.atMs - b.atMs)

        // each job sends what it could not send again, with the time at which it happened, and waits for no other job
        let isSending = true
        const send = async (queue: Event[]) => {
          while (isSending && queue.length > 0) {
            const next = queue[0]!
            if (next.atMs > stint.nowMs()) await Bun.sleep(50)
            else {
              const sent = await caller.post(`/v1/${next.kind}`, next.body).catch(() => undefined)
              if (sent?.status === 201) queue.shift()
              else {
                if (sent) console.log(sent.status, sent.text.slice(0, 300), JSON.stringify(next))
                await Bun.sleep(100)
              }
            }
          }
        }
        const sending = Promise.all([...Map.groupBy(events, ({ body }) => body.process).values()].map(send))

        /** Once each: a message that the kill cut off comes again, by its id. */
        const bodies = () => {
          const byId = new Map(receiver.requests.map(({ headers, text }) => [headers.get('webhook-id'), text]))
          return [...byId.values()].map((text) => JSON.parse(text) as Body)
        }
        const fired = (process: string) =>
          bodies().filter(({ type, data }) => type === 'alert.firing' && data.process === process)
        const early = ['silent', 'broken', 'threw', 'stuck']
        const longest = 900_000 / SPEED
        await until('what is broken from the start fires', () => early.every((it) => fired(it).length === 1), longest)
        await until('the downtime begins', () => stint.nowMs() >= downMs, longest)
        await interrupt(stint)
        const upMs = stint.nowMs()
        await until('the time is over', () => stint.nowMs() >= upMs + LATEST_MS, longest)
        isSending = false
        await sending

        const all = bodies().map(({ type, data }) => `${type} ${data.process} ${data.condition}`)
        const expected = [
          ...ids.flatMap((i) => [`alert.firing dead ${i} late`, `alert.firing hangs ${i} long`]),
          ...['dead cron late', 'silent late', 'broken failed', 'threw failed', 'stuck long'].map(
            (it) => `alert.firing ${it}`,
          ),
        ]
        expect(all.sort()).toEqual(expected.sort())
        const limitMs = upMs + QUIET_MS + EVERY_MS + GRACE_MS + SLACK_MS
        for (const i of ids)
          for (const job of [`dead ${i}`, `hangs ${i}`])
            expect(Date.parse(fired(job)[0]!.data.since), job).toBeLessThan(limitMs)
        const firing = (await bySession.get('/api/alerts?state=firing&limit=100')).json.alerts
        expect(firing).toHaveLength(expected.length)
      } finally {
        await stint.close()
        await receiver.close()
      }
    },
    LONGEST_MS,
  )
