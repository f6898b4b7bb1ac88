// The back-up of README.md, done as it says there: the process is frozen while DATA_DIR is copied, under load, and goes on. What was
// acknowledged before is in the copy, once and as it was; nothing is in it that was never sent; and the copy is a Stint of its own.
import { expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { engineMissing } from '../support/engine.ts'
import { untilShipped } from '../support/oracle.ts'
import { type Caller, createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const CLIENTS = 8
const EVENTS_BEFORE = 600
const WITHIN_MS = 90_000

/** Every thread stands still: what is written is whole system calls, as at a loss of power. */
async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  const deadline = performance.now() + WITHIN_MS
  const isStill = () =>
    readdirSync(`/proc/${pid}/task`).every((task) =>
      / [Tt] /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'latin1').replace(/^.*\)/s, '')),
    )
  while (!isStill()) {
    if (performance.now() > deadline) throw new Error('it does not stand still')
    await Bun.sleep(5)
  }
}

async function readAll(
  caller: Caller,
  path: string,
  list: string,
): Promise<{ at?: string; uid?: string; exception?: string }[]> {
  const rows: object[] = []
  for (let cursor = ''; ; ) {
    const answer = await caller.get(`${path}?from=-1h&limit=1000${cursor}`)
    const page = (await answer.json()) as Record<string, object[]> & { next: string | null }
    rows.push(...page[list]!)
    if (page.next === null) return rows
    cursor = `&cursor=${encodeURIComponent(page.next)}`
  }
}

test.skipIf(engineMissing !== undefined || process.platform !== 'linux')(
  'a copy of the frozen DATA_DIR holds every acknowledged event',
  async () => {
    const copy = tempDir('backup')
    const stint = createStintProcess()
    const restored = createStintProcess({}, { dataDir: copy })
    try {
      await stint.start()
      const caller = await stint.signUp('ada@example.com')
      /** The stamp of each 201, by number. */
      const acknowledged = new Map<number, string>()
      let sent = 0
      let isOver = false
      const load = async () => {
        while (!isOver) {
          const id = sent++
          const answer = await caller.post('/v1/exception', { process: 'p', exception: `boom ${id}` })
          expect(answer.status).toBe(201)
          acknowledged.set(id, ((await answer.json()) as { at: string }).at)
          expect((await caller.post('/v1/start', { process: 'p', uid: `u${id}` })).status).toBe(201)
        }
      }
      const clients = Promise.all(Array.from({ length: CLIENTS }, load))
      const deadline = performance.now() + WITHIN_MS
      while (acknowledged.size < EVENTS_BEFORE && performance.now() < deadline) await Bun.sleep(5)

      await freeze(stint.pid())
      const before = new Map(acknowledged)
      cpSync(stint.dataDir, copy, { recursive: true, preserveTimestamps: true })
      process.kill(stint.pid(), 'SIGCONT')
      expect(before.size).toBeGreaterThanOrEqual(EVENTS_BEFORE)

      const goesOn = acknowledged.size + 50 // no client noticed more than a pause
      while (acknowledged.size < goesOn && performance.now() < deadline) await Bun.sleep(5)
      expect(acknowledged.size).toBeGreaterThanOrEqual(goesOn)
      isOver = true
      await clients
      await stint.kill() // two Stints with the same NODE_ID never run at once

      await restored.start()
      await untilShipped(restored.url, WITHIN_MS)
      const there: Caller = {
        ...caller,
        get: (path) => fetch(restored.url + path, { headers: { 'x-stint-api-key': caller.secret } }),
        post: (path, body) =>
          fetch(restored.url + path, {
            method: 'POST',
            headers: { 'x-stint-api-key': caller.secret, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
      }
      const exceptions = await readAll(there, '/api/exceptions', 'exceptions')
      const found = new Map(exceptions.map(({ exception, at }) => [Number(exception!.slice(5)), at!]))
      expect(found.size).toBe(exceptions.length)
      expect([...before].filter(([id, at]) => found.get(id) !== at)).toEqual([])
      expect([...found.keys()].filter((id) => id >= sent)).toEqual([])
      const runs = await readAll(there, '/api/timings', 'timings')
      expect(new Set(runs.map(({ uid }) => uid)).size).toBe(runs.length)

      expect((await there.post('/v1/exception', { process: 'p', exception: 'after' })).status).toBe(201)
      const signedIn = await fetch(`${restored.url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.com', password: 'a long enough password of a test' }),
      })
      expect(signedIn.status).toBe(201)
    } finally {
      await Promise.all([stint.close(), restored.close()])
      rmSync(copy, { recursive: true, force: true })
    }
  },
)

test.skipIf(engineMissing !== undefined)('a copy without its symbolic links is refused with the reason', async () => {
  const copy = tempDir('backup')
  const stint = createStintProcess()
  const restored = createStintProcess({}, { dataDir: copy })
  try {
    await stint.start()
    await stint.terminate()
    cpSync(stint.dataDir, copy, { recursive: true, dereference: true })
    await expect(restored.start()).rejects.toThrow(/symbolic links are directories.*cp -a, rsync -a, tar/)
  } finally {
    await Promise.all([stint.close(), restored.close()])
  }
})
