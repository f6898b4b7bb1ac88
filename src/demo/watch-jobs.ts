// The demo's watches: a channel whose notifications are printed, an alert that fires, and one that the next run
// resolves.
import { systemClock } from '../clock.ts'
import { exceptionOf } from './day-of-jobs.ts'

interface WatchedDemo {
  /** As the signed-in user. */
  manage(path: string, body: unknown): Promise<unknown>
  /** With the API key. */
  send(path: string, body: unknown): Promise<unknown>
  print(text: string): void
  readonly signal: AbortSignal
}

export async function watchJobs({ manage, send, print, signal }: WatchedDemo): Promise<void> {
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { type, data } = (await request.json()) as { type: string; data: { summary?: string } }
      print(`notification: ${type} ${data.summary ?? ''}`)
      return new Response(null, { status: 204 })
    },
  })
  signal.addEventListener('abort', () => void receiver.stop(true), { once: true })
  const { channel } = (await manage('/api/channels', {
    name: 'this terminal',
    kind: 'webhook',
    url: `http://127.0.0.1:${receiver.port}/`,
  })) as { channel: { id: string } }
  const watch = (name: string, process: string, conditions: object) =>
    manage('/api/watches', { name, process, channels: [channel.id], ...conditions })
  await watch('Invoices', 'send invoices', { failed: { after: 1, exceptions: true } })
  await watch('Tests', 'ci tests', { failed: { after: 1 } })
  await watch('Imports', 'nightly import', { late: { every: '1d', grace: '1h' }, long: '2h', slow: 2.5 })
  await watch('Backups', 'backup*', { late: { every: '3h', grace: '1h' } })

  /** A run that ends now. */
  const run = async (process: string, meta: string, tookMs: number, failed: boolean) => {
    const mark = { process, meta, uid: `run-${crypto.randomUUID().slice(0, 8)}` }
    const ago = (ms: number) => new Date(systemClock.wallUs() / 1000 - ms).toISOString()
    await send('/v1/batch', [
      { kind: 'start', ...mark, at: ago(tookMs) },
      ...(failed ? [{ kind: 'exception', ...mark, exception: exceptionOf(process), at: ago(10) }] : []),
      { kind: 'end', ...mark, failed, at: ago(0) },
    ])
  }
  await run('send invoices', 'plan team', 221_000, true)
  await run('ci tests', 'branch main', 388_000, true)
  const recover = setTimeout(
    () => void run('ci tests', 'branch main', 402_000, false).catch(() => {}),
    RECOVERS_AFTER_MS,
  )
  signal.addEventListener('abort', () => clearTimeout(recover), { once: true })
}

/** Long enough for the alert to fire before. */
const RECOVERS_AFTER_MS = 40_000
