// `bun run bench watch-cost [--store embedded|influxdb] [--marks 10000000] [--watches 1000] [--seconds 330]`: the share of a core that the evaluation of
// watches takes in the real process, its engine and influxd included: the processor time with the watches less that without. Marks are inserted directly;
// one run starts and ends every two seconds while it measures. What follows the start is reported separately.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createLog } from '../../src/log.ts'
import { openSqliteWatchStore } from '../../src/watch/storage/sqlite-store.ts'
import { toSpec } from '../../src/watch/watch.ts'
import type { CreateWatch } from '../../src/wire/watches.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { createStintProcess } from '../support/process.ts'
import { cpuMs } from '../support/process-figures.ts'
import { tempDir } from '../support/temp-dir.ts'
import { loadMarks, makeAccount, PROCESSES } from './load-marks.ts'
import { inWords, surroundings } from './machine.ts'

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    store: { type: 'string', default: 'embedded' },
    marks: { type: 'string', default: '' },
    watches: { type: 'string', default: '' },
    seconds: { type: 'string', default: '330' },
  },
})
const isInflux = values.store === 'influxdb'
const marks = Number(values.marks || (isInflux ? 1e6 : 10e6))
const count = Number(values.watches || (isInflux ? 200 : 1000))
const seconds = Number(values.seconds)
const BASELINE_S = 60
/** The first evaluation has ended by then. */
const SETTLED_S = 45

/** Every condition, in the mix of an account that watches most of what it runs. */
function watchOf(i: number): CreateWatch {
  const process = i % 50 === 49 ? 'process 1*' : `process ${i % PROCESSES}`
  const metric = { name: `metric ${i % 5}`, window: '1h', of: 'mean', above: 2 } as const
  return {
    name: `watch ${i}`,
    process,
    channels: [],
    ...(i % 2 === 0
      ? { late: { every: '1h', grace: '10m' } }
      : { late: { cron: '*/30 * * * *', tz: 'Europe/Berlin' } }),
    long: '2h',
    failed: { after: 3, exceptions: i % 4 === 0 },
    ...(i % 3 === 0 && { slow: 100 }),
    ...(i % 10 === 0 && { metric }),
  }
}

const before = surroundings()
const dataDir = tempDir('watch-cost')
const influx = isInflux ? await (await influxd()).freshBucket() : undefined
const influxPids = isInflux ? [(await influxd()).server.pid()] : []
const influxEnv = influx && influxSettings(influx)
const stint = createStintProcess({ NODE_ENV: 'production', LOG_LEVEL: 'warn', ...influxEnv }, { dataDir })
try {
  const { id: account, secret } = await makeAccount(dataDir)
  await loadMarks(isInflux ? 'influxdb' : 'embedded', dataDir, account, marks, influx)
  const pids = () => [stint.pid(), ...influxPids]
  let run = 0
  const measure = async (s: number) => {
    const used = () => pids().reduce((sum, pid) => sum + cpuMs(pid), 0)
    const [cpu, from] = [used(), performance.now()]
    while (performance.now() - from < s * 1000) {
      for (const kind of ['start', 'end']) {
        await fetch(`${stint.url}/v1/${kind}`, {
          method: 'POST',
          headers: { 'x-stint-api-key': secret, 'content-type': 'application/json' },
          body: JSON.stringify({ process: `process ${run % PROCESSES}`, uid: `live-${run}` }),
        })
        await Bun.sleep(1000)
      }
      run++
    }
    return { cpuMs: used() - cpu, ms: performance.now() - from }
  }
  await stint.start()
  await measure(10) // opens and compiles what all need
  const idle = await measure(BASELINE_S)
  await stint.terminate()
  const store = openSqliteWatchStore(join(dataDir, 'watches.sqlite'), createLog({ level: 'warn', pretty: false }))
  const us = Date.now() * 1000
  for (let i = 0; i < count; i++)
    await store.addWatch(
      { id: `wat_${i}`, account, spec: toSpec(watchOf(i)), createdUs: us, sinceUs: us, badge: null, changed: {} },
      count,
    )
  await store.close()
  await stint.start()
  const first = await measure(SETTLED_S)
  const steady = await measure(seconds)
  const share = ({ cpuMs: cpu, ms }: typeof idle) => Number(((100 * cpu) / ms).toFixed(2))
  console.log(inWords(before, surroundings()))
  console.table({
    store: values.store,
    marks,
    watches: count,
    'without watches, % of a core': share(idle),
    'with watches, % of a core': share(steady),
    'watches alone, % of a core': Number((share(steady) - share(idle)).toFixed(2)),
    'first evaluation, CPU s': Number(((first.cpuMs - (share(idle) / 100) * first.ms) / 1000).toFixed(1)),
  })
} finally {
  await stint.close()
  rmSync(dataDir, { recursive: true, force: true })
}
process.exit(0)
