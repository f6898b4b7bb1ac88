// The same promises seen from outside, by the system calls of a real process: nothing is acknowledged, and nothing removed, before
// what it depends on is on the disk.
import { afterAll, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'

const dir = tempDir('strace')
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const SCRIPT = `
  import { writeSync } from 'node:fs'
  import { openSpool } from '${join(import.meta.dir, '../../src/spool/spool.ts')}'
  const log = { warn() {}, error() {}, info() {}, debug() {} }
  const spool = await openSpool({ dir: '${dir}/new/spool', maxBytes: 2 ** 30, minFreeBytes: 0, segmentBytes: 4096, log })
  for (let n = 0; n < 60; n++) {
    await spool.append('record ' + n + 'x'.repeat(300), 1000 + n)
    writeSync(1, 'acknowledged\\n')
    if (n % 20 === 19) await spool.advance((await spool.read(18, 1 << 20)).next)
  }
  await spool.close()`

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
    if (text.endsWith('<unfinished ...>')) begun.set(pid, text)
    if (text.startsWith('<...')) {
      if (isSync) calls.push({ name, text: begun.get(pid)! })
    } else if (!isSync || !text.endsWith('<unfinished ...>')) calls.push({ name, text })
  }
  return calls
}

test.skipIf(missing('strace') !== undefined)('every acknowledgement and every removal follows its sync', async () => {
  const trace = join(dir, 'trace')
  const filter = 'trace=write,pwrite64,fdatasync,fsync,unlink,rename,mkdir'
  const child = Bun.spawn(['strace', '-f', '-y', '-s', '16', '-e', filter, '-o', trace, 'bun', '-e', SCRIPT], {
    stdout: 'ignore',
    stderr: 'inherit',
  })
  expect(await child.exited).toBe(0)
  const calls = parseTrace(readFileSync(trace, 'utf8')).filter(
    ({ text }) => text.includes(dir) || text.includes('acknowl'),
  )

  let written = false
  let synced = false
  let acknowledged = 0
  let removed = 0
  let positionSynced = false
  const durableNames = new Set<string>()
  const zeroed = new Set<string>()
  const syncedZeros = new Set<string>()
  for (const { name, text } of calls) {
    const segment = /\d{16}\.segment/.exec(text)?.[0]
    if (name === 'fsync') for (const made of zeroed) if (syncedZeros.has(made)) durableNames.add(made)
    if (name === 'fdatasync' && segment !== undefined && zeroed.has(segment)) syncedZeros.add(segment)
    if (segment !== undefined && name === 'pwrite64') {
      if (/, "(\\0)+"/.test(text)) zeroed.add(segment)
      else {
        expect(durableNames).toContain(segment)
        written = true
        synced = false
      }
    }
    if (segment !== undefined && name === 'fdatasync') synced = true
    if (/\/position/.test(text) && name === 'pwrite64') positionSynced = false
    if (/\/position/.test(text) && name === 'fdatasync') positionSynced = true
    if (name === 'unlink' && segment !== undefined) {
      removed++
      expect(positionSynced).toBe(true)
    }
    if (text.includes('acknowledged')) {
      acknowledged++
      expect(written && synced).toBe(true)
      written = false
    }
  }
  expect(acknowledged).toBe(60)
  expect(removed).toBeGreaterThan(2)
  const madeDirs = calls.filter(
    ({ name, text }) => name === 'fsync' && (text.includes(`${dir}>`) || text.includes('/new>')),
  )
  expect(madeDirs).toHaveLength(2)
})
