// The embedded engine reads the data of an INSERT from standard input where it can.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { engineMissing } from '../../support/engine.ts'
import { tempDir } from '../../support/temp-dir.ts'

const CLIENT = join(import.meta.dir, '../../../src/store/clickhouse/client.ts')
const INSERT_AND_READ = `
  import { openClickHouseClient } from '${CLIENT}'
  const client = await openClickHouseClient({ path: process.argv[1] }, 30_000)
  await client.run('CREATE TABLE default.t (name String) ENGINE = MergeTree ORDER BY name')
  await client.run('INSERT INTO default.t FORMAT JSONCompactEachRow\\n["job"]')
  console.log(JSON.stringify(await client.select('SELECT name FROM default.t')))
  await client.close()`

test.skipIf(engineMissing !== undefined)(
  'the engine does not insert what waits on the standard input of its process',
  async () => {
    const child = Bun.spawn([process.execPath, '-e', INSERT_AND_READ, tempDir('standard-input')], {
      ...{ stdin: new Blob(['["stranger"]\n'.repeat(1000)]), stdout: 'pipe', stderr: 'pipe' },
    })
    const [printed, failed] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    expect(await child.exited, failed).toBe(0)
    expect(printed).toBe('[{"name":"job"}]\n')
  },
)
