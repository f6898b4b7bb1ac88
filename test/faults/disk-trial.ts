// A Stint on a small disk, with its points in a real InfluxDB behind a proxy. All of it is gone after each test.
import { afterEach } from 'bun:test'
import { join } from 'node:path'
import { mountSmallDisk, type SmallDisk } from '../support/fault-small-disk.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { type LossyProxy, startLossyProxy } from '../support/lossy-proxy.ts'
import { createOracle } from '../support/oracle.ts'
import { createStintProcess, type Env, type ProcessOptions, type StintProcess } from '../support/process.ts'

export const isUp = (url: string, path: string): Promise<boolean> =>
  fetch(url + path).then(
    ({ ok }) => ok,
    () => false, // it does not listen yet
  )

/** Ready, and nothing is refused. */
export const takesAll = async ({ url }: StintProcess): Promise<boolean> =>
  (await (await fetch(`${url}/readyz`)).text()) === 'ready\n'

export function useDisks() {
  const open: { stint?: StintProcess; disk?: SmallDisk; proxy?: LossyProxy } = {}
  afterEach(async () => {
    await open.stint?.kill()
    open.disk?.unmount() // may lie in the directory that goes with Stint
    await open.stint?.close()
    await open.proxy?.stop()
    for (const name of ['stint', 'disk', 'proxy'] as const) delete open[name]
  })
  const mount = (megabytes: number, dir?: string): SmallDisk => (open.disk = mountSmallDisk(megabytes, dir))
  const create = (settings: Env = {}, options?: ProcessOptions): StintProcess =>
    (open.stint = createStintProcess({ SPOOL_MAX_BYTES: '16MiB', ...settings }, options))

  async function openInflux(): Promise<{ proxy: LossyProxy; settings: Env }> {
    const bucket = await (await influxd()).freshBucket()
    const proxy = await startLossyProxy({ to: bucket.url, lose: 0, random: () => 1 })
    open.proxy = proxy
    return { proxy, settings: { ...influxSettings({ ...bucket, url: proxy.url }), SERIES_MAX: '0' } }
  }

  /** With its DATA_DIR on a disk of 160 MB, and an account. */
  async function startOnDisk() {
    const disk = mount(160)
    const { settings, proxy } = await openInflux()
    const stint = create(settings, { dataDir: join(disk.dir, 'data') })
    await stint.start()
    return { disk, proxy, stint, caller: await stint.signUp('ada@example.com'), oracle: createOracle() }
  }

  return { mount, create, openInflux, startOnDisk }
}
