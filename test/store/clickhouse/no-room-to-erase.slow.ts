// Erasing rewrites a table's parts one by one. On a real disk that has no room for the largest part the sink says how much
// is missing, and erases once there is room.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Exception } from '../../../src/event/event.ts'
import { openClickHouseClient } from '../../../src/store/clickhouse/client.ts'
import { findLackingRoom } from '../../../src/store/clickhouse/room-to-erase.ts'
import { createClickHouse } from '../../support/clickhouse-process.ts'
import { mountSmallDisk, type SmallDisk } from '../../support/fault-small-disk.ts'
import { lacks } from '../../support/fault-trial.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { openStore } from './subjects.ts'

const MIB = 2 ** 20
const DISK_MIB = 256
const PART_MIB = 24
const TEXT_BYTES = 12_000

const needless = lacks('chdb', 'tmpfs')
let disk: SmallDisk | undefined
beforeAll(() => {
  if (!needless) disk = mountSmallDisk(DISK_MIB)
})
afterAll(() => disk?.unmount())

/** Leaves 8 MiB; returns the way to give the others back. */
function fillDisk(): () => void {
  const { stdout } = Bun.spawnSync(['df', '--output=avail', '-B1', disk!.dir])
  const filler = join(disk!.dir, 'other')
  writeFileSync(filler, new Uint8Array(Number(stdout.toString().split('\n')[1]) - 8 * MIB))
  return () => rmSync(filler)
}

/** Hardly compressible. */
const exceptions: readonly Exception[] = Array.from({ length: (PART_MIB * MIB) / TEXT_BYTES }, (_, i) => ({
  ...{ kind: 'exception', account: 'gone', process: 'p', meta: '', stamp: { us: 1_795_211_562_171_920 + i, sub: 0 } },
  exception: Buffer.from(crypto.getRandomValues(new Uint8Array(TEXT_BYTES * 0.75))).toString('base64'),
}))

test.skipIf(needless)('erasing says how much room is missing for the largest part', async () => {
  const clickhouse = createClickHouse('stint', undefined, disk!.dir)
  await clickhouse.start()
  const store = await openStore(clickhouse.address)
  try {
    const sink = store.createSink()
    expect((await sink.prepare()).kind).toBe('stored')
    expect((await sink.write(exceptions)).kind).toBe('stored')
    const freeDisk = fillDisk()
    const result = await sink.erase(['gone'])
    if (result.kind !== 'wait') throw new Error(`expected to wait: ${JSON.stringify(result)}`)
    const [, needed, left, missing] =
      /^erasing needs (\d+) MB free for the largest part, and (\d+) MB are: (\d+) MB are missing$/
        .exec(result.reason)!
        .map(Number)
    expect(needed).toBeWithin(15, 40)
    expect(left).toBeWithin(1, 10)
    expect(missing).toBe(needed! - left!)
    freeDisk()
    expect((await sink.erase(['gone'])).kind).toBe('stored')
  } finally {
    await store.close()
    await clickhouse.kill()
  }
})

test.skipIf(needless)('a part needs room on its own disk, and on no other', async () => {
  const clickhouse = createClickHouse('tiers', undefined, disk!.dir)
  await clickhouse.start()
  const client = await openClickHouseClient(clickhouse.address, 30_000)
  const elsewhere = `disk = disk(name = 'elsewhere', type = local_blob_storage, path = '${tempDir('elsewhere')}/')`
  let freeDisk: (() => void) | undefined
  try {
    await client.run('CREATE DATABASE tiers')
    await client.run('CREATE TABLE tiers.new (t String) ENGINE = MergeTree ORDER BY ()')
    await client.run(`CREATE TABLE tiers.old (t String) ENGINE = MergeTree ORDER BY () SETTINGS ${elsewhere}`)
    await client.run("INSERT INTO tiers.new VALUES ('a')")
    await client.run(`INSERT INTO tiers.old SELECT randomString(${MIB}) FROM numbers(${PART_MIB})`)
    freeDisk = fillDisk()
    expect(await findLackingRoom(client, ['`tiers`.`new`', '`tiers`.`old`'])).toBeUndefined()
  } finally {
    freeDisk?.()
    await client.close()
    await clickhouse.kill()
  }
})
