// What an earlier Stint left under DATA_DIR stays readable: files of each format, kept as they were written.
import { expect, test } from 'bun:test'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemDisk } from '../../src/spool/disk.ts'
import { tempDir } from '../support/temp-dir.ts'
import { FakeDisk } from './fake-disk.ts'
import { GOLDEN_DELIVERED, GOLDEN_RECORDS, writeGolden } from './golden.ts'
import { createLogLines, DIR, drain, openOn, quiet } from './spool-trial.ts'

const FORMAT_1 = join(import.meta.dir, 'golden/format-1')
const dir = tempDir('golden')
cpSync(FORMAT_1, dir, { recursive: true })

test('a spool of format 1 is delivered from its position on', async () => {
  const { log, lines } = createLogLines()
  const spool = await openOn(systemDisk, { dir, log })
  expect(spool.floorUs).toBe(1_790_000_000_000_029)
  expect(await drain(spool)).toEqual(GOLDEN_RECORDS.slice(GOLDEN_DELIVERED))
  expect(spool.stats().damaged).toBe(0)
  await spool.close()
  expect(quiet(lines)).toBe(true)
})

test('writes format 1 byte for byte: another format needs a new version and golden files', async () => {
  const disk = new FakeDisk()
  await writeGolden(disk)
  const names = readdirSync(FORMAT_1)
  expect(names.filter((name) => name.endsWith('.segment')).length).toBeGreaterThan(2)
  for (const name of names) {
    const [now, then] = [Buffer.from(disk.contents(`${DIR}/${name}`)), readFileSync(join(FORMAT_1, name))]
    if (name === 'position') expect(newestPosition(now)).toEqual(newestPosition(then))
    else expect(now.toString('hex')).toBe(then.toString('hex'))
  }
})

/** The newer slot without what tells how often it was written: generation and checksum. */
function newestPosition(file: Buffer): string[] {
  const slots = [0, 4096].map((at) => file.subarray(at, at + 68))
  const newest = slots.sort((a, b) => Number(b.readBigUInt64LE(16) - a.readBigUInt64LE(16)))[0]!
  return [newest.subarray(0, 16), newest.subarray(24, 64)].map((part) => part.toString('hex'))
}
