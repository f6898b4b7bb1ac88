// The order of things in the real process, by its system calls: what power loss cannot take back. Every 201 follows the sync of its record; every
// position follows the sync of the store that has the events.
import { afterEach, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lacks, traceCalls, WITHIN_MS } from '../support/fault-trial.ts'
import { createOracle, untilShipped } from '../support/oracle.ts'
import { followSegments, isRecordWrite, parseTrace } from '../support/parse-trace.ts'
import { createStintProcess, type StintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const EVENTS = 30
const CALLS = 'open,openat,sendto,sendmsg,write,writev,pwrite64,fdatasync,fsync,unlink'

const dir = tempDir('order')
let stint: StintProcess | undefined
afterEach(async () => {
  await stint?.close()
  rmSync(dir, { recursive: true, force: true })
})

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
    const segments = followSegments(stint.dataDir)
    segments.noteOpen(stint.pid())
    const tracing = await traceCalls(stint.pid(), ['-y', '-s', '48', '-e', `trace=${CALLS}`, '-o', path])
    for (let i = 0; i < EVENTS; i++) {
      expect(await oracle.send(caller, i % 2 === 0 ? 'metrics' : 'exception')).toBe(201)
      if (i === EVENTS / 2) await untilShipped(stint.url, WITHIN_MS) // so that each position moves twice
    }
    await untilShipped(stint.url, WITHIN_MS)
    await tracing.stop()

    const seen = { answers: 0, positions: 0 }
    const wrong: string[] = []
    let storeSynced: Record<string, boolean> = {}
    const places: Record<string, string> = {}
    let recordsWritten = 0
    const isSegment = (text: string) => /\d\.segment/.test(text)
    for (const call of parseTrace(readFileSync(path, 'utf8'), isSegment)) {
      const { name, text } = call
      segments.note(call)
      if (isRecordWrite(call)) recordsWritten++
      if (text.includes('HTTP/1.1 201')) {
        seen.answers++
        if (segments.unsynced.size > 0 || recordsWritten < seen.answers) wrong.push(`answered before the sync: ${text}`)
      }
      if ((name === 'fsync' || name === 'fdatasync') && text.includes('/clickhouse/'))
        storeSynced = { points: true, exceptions: true }
      const position = /\/spool\/(\w+)\/position/.exec(text)?.[1]
      if (position === undefined || name !== 'pwrite64') continue
      // It is also written while records arrive, with another end but the same place to read from. The first shows where it was.
      const [place, before] = [placeIn(text), places[position]]
      places[position] = place
      if (before !== undefined && place !== before) {
        seen.positions++
        if (storeSynced[position] !== true) wrong.push(`moved before the store was synced: ${text}`)
        storeSynced[position] = false
      }
    }
    expect(wrong).toEqual([])
    expect(seen.answers).toBe(EVENTS)
    expect(seen.positions).toBeGreaterThan(1)
  },
)

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' }

/** Segment, offset and sequence of a position file's slot (spool/position-file.ts), from the bytes that strace shows. */
function placeIn(text: string): string {
  const shown = /, "((?:[^"\\]|\\.)*)"/.exec(text)![1]!
  const bytes = shown.replaceAll(/\\(?:([0-7]{1,3})|(.))/g, (_, octal?: string, letter = '') =>
    octal === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(Number.parseInt(octal, 8)),
  )
  expect(bytes).toHaveLength(48)
  return bytes.slice(24)
}
