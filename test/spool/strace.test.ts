// The same promises seen from outside, by the system calls of a real process: nothing is acknowledged, and nothing removed, before
// what it depends on is on the disk.
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { followSegments, isRecordWrite, parseTrace } from '../support/parse-trace.ts'
import { tempDir } from '../support/temp-dir.ts'

const scriptIn = (dir: string) => `
  import { writeSync } from 'node:fs'
  import { openSpool } from '${join(import.meta.dir, '../../src/spool/open-spool.ts')}'
  const log = { warn() {}, error() {}, info() {}, debug() {} }
  const spool = await openSpool({ dir: '${dir}/new/spool', maxBytes: 2 ** 30, minFreeBytes: 0, segmentBytes: 4096, log })
  for (let n = 0; n < 60; n++) {
    await spool.append('record ' + n + 'x'.repeat(300), 1000 + n)
    writeSync(1, 'acknowledged\\n')
    if (n % 20 === 19) await spool.advance((await spool.read(18, 1 << 20)).next)
  }
  await spool.close()`

/** A file system in memory is not known to honour O_DSYNC, so there every commit needs an fdatasync. */
const PLACES: readonly (readonly [string, () => string])[] = [
  ['a disk', () => tempDir('strace')],
  ['a file system that may ignore O_DSYNC', () => mkdtempSync('/dev/shm/stint-strace-')],
]

test.skipIf(missing('strace') !== undefined).each(PLACES)(
  'on %s every acknowledgement and every removal follows its sync',
  async (_, createDir) => {
    const dir = createDir()
    const trace = join(dir, 'trace')
    const filter = 'trace=open,openat,write,pwrite64,fdatasync,fsync,unlink,rename,mkdir'
    const command = ['strace', '-f', '-y', '-s', '16', '-e', filter, '-o', trace, 'bun', '-e', scriptIn(dir)]
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'inherit' })
    expect(await child.exited).toBe(0)
    const isOurs = (text: string) => text.includes(dir) || text.includes('acknowl')
    const isSegment = (text: string) => /\d\.segment/.test(text)
    const calls = parseTrace(readFileSync(trace, 'utf8'), isSegment).filter(({ text }) => isOurs(text))

    const segments = followSegments(dir)
    let written = false
    let acknowledged = 0
    let removed = 0
    let positionSynced = false
    const durableNames = new Set<string>()
    const zeroed = new Set<string>()
    const syncedZeros = new Set<string>()
    for (const call of calls) {
      const { name, text } = call
      const segment = /\d{16}\.segment/.exec(text)?.[0]
      segments.note(call)
      if (name === 'fsync') for (const made of zeroed) if (syncedZeros.has(made)) durableNames.add(made)
      if (name === 'fdatasync' && segment !== undefined && zeroed.has(segment)) syncedZeros.add(segment)
      if (isRecordWrite(call)) {
        expect(durableNames).toContain(segment!)
        written = true
      } else if (segment !== undefined && name === 'pwrite64') {
        zeroed.add(segment)
        if (segments.isDurable(call)) syncedZeros.add(segment)
        else syncedZeros.delete(segment)
      }
      if (/\/position/.test(text) && name === 'pwrite64') positionSynced = false
      if (/\/position/.test(text) && name === 'fdatasync') positionSynced = true
      if (name === 'unlink' && segment !== undefined) {
        removed++
        expect(positionSynced).toBe(true)
      }
      if (text.includes('acknowledged')) {
        acknowledged++
        expect({ written, unsynced: [...segments.unsynced] }).toEqual({ written: true, unsynced: [] })
        written = false
      }
    }
    expect(acknowledged).toBe(60)
    expect(removed).toBeGreaterThan(2)
    const madeDirs = calls.filter(
      ({ name, text }) => name === 'fsync' && (text.includes(`${dir}>`) || text.includes('/new>')),
    )
    expect(madeDirs).toHaveLength(2)
  },
)
