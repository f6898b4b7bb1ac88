// A Stint on a small disk, with its points in a real InfluxDB behind a proxy. All of it is gone after each test.
import { afterEach } from 'bun:test'
import { mountSmallDisk, type SmallDisk } from '../support/fault-small-disk.ts'
import { influxd, influxSettings } from '../support/influxd.ts'
import { type LossyProxy, startLossyProxy } from '../support/lossy-proxy.ts'
import { createStintProcess, type Env, type ProcessOptions, type StintProcess } from '../support/process.ts'

export function useDisks() {
  const open: { stint?: StintProcess; disk?: SmallDisk; proxy?: LossyProxy } = {}
  afterEach(async () => {
    await open.stint?.kill()
    open.disk?.unmount() // may lie in the directory that goes with Stint
    await open.stint?.close()
    await open.proxy?.stop()
    for (const name of ['stint', 'disk', 'proxy'] as const) delete open[name]
  })
  return {
    mount: (megabytes: number, dir?: string): SmallDisk => (open.disk = mountSmallDisk(megabytes, dir)),
    create: (settings: Env = {}, options?: ProcessOptions): StintProcess =>
      (open.stint = createStintProcess({ SPOOL_MAX_BYTES: '16MiB', ...settings }, options)),
    async openInflux(): Promise<{ proxy: LossyProxy; settings: Env }> {
      const bucket = await (await influxd()).freshBucket()
      const proxy = await startLossyProxy({ to: bucket.url, lose: 0, random: () => 1 })
      open.proxy = proxy
      return { proxy, settings: { ...influxSettings({ ...bucket, url: proxy.url }), SERIES_MAX: '0' } }
    },
  }
}
