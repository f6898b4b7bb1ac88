// The order of things in the real process, by its system calls: what power loss cannot take back. Every 201 follows the sync of its record; every
// position follows the sync of the store that has the events.
import { afterEach, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lacks, traceCalls } from '../support/fault-trial.ts'
import { createOracle, untilShipped } from '../support/oracle.ts'
import { createStintProcess, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const EVENTS = 30
const WITHIN_MS = 60_000
const TIMEOUT_MS = 600_000
const CALLS = 'sendto,sendmsg,write,writev,pwrite64,fdatasync,fsync,unlink'

const dir = tempDir('order')
let stint: StintProcess | undefined
afterEach(async () => {
  await stint?.close()
  rmSync(dir, { recursive: true, force: true })
})

interface Call {
  readonly name: string
  readonly text: string
}

/** Calls in order: a sync counts from its end, anything else from its beginning. */
function parseTrace(trace: string): Call[] {
  const begun = new Map<string, string>()
  const calls: Call[] = []
  for (const line of trace.split('\n')) {
    const [, pid, text] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (pid === undefined || text === undefined) continue
    const name = /^\w+|(?<=^<\.\.\. )\w+/.exec(text)?.[0] ?? ''
    const isSync = name === 'fsync' || name === 'fdatasync'
    const isUnfinished = text.endsWith('<unfinished ...>')
    if (isUnfinished) begun.set(pid, text)
    if (text.startsWith('<...')) {
      const start = begun.get(pid)
      if (isSync && start !== undefined) calls.push({ name, text: start })
    } else if (!isSync || !isUnfinished) calls.push({ name, text })
  }
  return calls
}

test.skipIf(lacks('ptrace', 'chdb'))(
  'each 201 follows the sync of its record, and each position the sync of the embedded store',
  async () => {
    stint = createStintProcess({ SPOOL_MAX_BYTES: '1MiB' })
    await stint.start()
    const caller = await stint.signUp('ada@example.com')
    const oracle = createOracle()
    await oracle.send(caller, 'metrics')
    await oracle.send(caller, 'exception')
    await untilShipped(stint.url, WITHIN_MS)

    const path = join(dir, 'trace')
    const tracing = await traceCalls(stint.pid(), ['-y', '-s', '40', '-e', `trace=${CALLS}`, '-o', path])
    for (let i = 0; i < EVENTS; i++) {
      expect(await oracle.send(caller, i % 2 === 0 ? 'metrics' : 'exception')).toBe(201)
    }
    await untilShipped(stint.url, WITHIN_MS)
    await tracing.stop()

    const seen = { answers: 0, positions: 0 }
    const wrong: string[] = []
    const unsynced = new Set<string>()
    let storeSynced: Record<string, boolean> = {}
    let recordsWritten = 0
    for (const { name, text } of parseTrace(readFileSync(path, 'utf8'))) {
      const segment = /\/spool\/\w+\/\d{16}\.segment/.exec(text)?.[0]
      if (segment !== undefined && name === 'pwrite64') {
        if (/, "(\\0)+"/.test(text)) continue // the next segment is made ready
        unsynced.add(segment)
        recordsWritten++
      }
      if (segment !== undefined && name === 'fdatasync') unsynced.delete(segment)
      if (text.includes('HTTP/1.1 201')) {
        seen.answers++
        if (unsynced.size > 0 || recordsWritten < seen.answers) wrong.push(`answered before the sync: ${text}`)
      }
      if ((name === 'fsync' || name === 'fdatasync') && text.includes('/clickhouse/'))
        storeSynced = { points: true, exceptions: true }
      const position = /\/spool\/(\w+)\/position/.exec(text)?.[1]
      if (position !== undefined && name === 'pwrite64') {
        seen.positions++
        if (storeSynced[position] !== true) wrong.push(`moved before the store was synced: ${text}`)
        storeSynced[position] = false
      }
    }
    expect(wrong).toEqual([])
    expect(seen.answers).toBe(EVENTS)
    expect(seen.positions).toBeGreaterThan(1)
  },
  TIMEOUT_MS,
)
