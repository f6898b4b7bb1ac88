// The real process, its time quickened, and a webhook that receives its notifications.
import { expect } from 'bun:test'
import { signUpAt } from '../support/caller.ts'
import type { Env } from '../support/process.ts'
import { createQuickProcess } from '../support/quick-clock.ts'
import { type Received, startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

const WITHIN_MS = 60_000

export interface Notified extends Received {
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON came; the tests say what it must be
  readonly body: any
}

export type WatchedStint = Awaited<ReturnType<typeof startWatched>>

/** `env` is given the address of the webhook; it takes what comes to its own path. `speed`: of its clock; 8 when absent. */
export async function startWatched(env: (url: string) => Env = () => ({}), speed?: number) {
  const received: Notified[] = []
  let status = 200
  const receiver = startReceiver((one) => {
    if (one.path === '/hook' && status === 200) received.push({ ...one, body: JSON.parse(one.text) })
    return new Response('taken', { status })
  })
  const stint = createQuickProcess({ NOTIFY_PRIVATE: 'true', ...env(receiver.url) }, speed)
  await stint.start()
  const person = await signUpAt(stint.url)
  const { bySession, byKey } = person
  const hook = { name: 'hook', kind: 'webhook', url: `${receiver.url}/hook` }
  const { id, secret } = (await bySession.post('/api/channels', hook)).json.channel
  /** `type`: firing, resolved. */
  const got = (type: string, process: string) =>
    received.filter(({ body }) => body.type === `alert.${type}` && body.data.process === process)
  return {
    ...{ stint, person, secret, received, requests: receiver.requests, got },
    /** The webhook answers so from now on. */
    answer(next: number): void {
      status = next
    },
    async watch(process: string, conditions: object): Promise<{ readonly id: string }> {
      const made = await bySession.post('/api/watches', { name: process, process, channels: [id], ...conditions })
      expect(made.status).toBe(201)
      return made.json.watch
    },
    async send(kind: string, body: object): Promise<void> {
      expect((await byKey.post(`/v1/${kind}`, body)).status).toBe(201)
    },
    gets: (type: string, process: string, count = 1) =>
      until(`${count} × ${type} of ${process}`, () => got(type, process).length >= count, WITHIN_MS),
    async [Symbol.asyncDispose]() {
      await receiver.close()
      await stint.close()
    },
  }
}
