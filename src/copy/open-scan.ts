// Opens what a place holds for reading.

import type { Family } from '../event/event.ts'
import { openClickHouseScan } from '../store/clickhouse/open.ts'
import { createInfluxScan } from '../store/influx/scan.ts'
import { COUNTED, type Counts, NO_COUNTS, type Scan } from '../store/scan.ts'
import { openFileScan } from './event-file.ts'
import { type Place, targetOf } from './places.ts'

/** With `account` every event of a file becomes that account's. Throws CopyError and EngineUnavailableError. */
export async function openScan(place: Place, account?: string): Promise<Scan> {
  switch (place.kind) {
    case 'embedded':
    case 'clickhouse':
      return openClickHouseScan(place)
    case 'influxdb':
      return createInfluxScan(place)
    case 'file':
      return openFileScan(place.path, account)
    case 'stores':
      return joinScans(
        await openScan(targetOf(place.config, 'marks')),
        await openScan(targetOf(place.config, 'exceptions')),
      )
    default:
      return place satisfies never
  }
}

/** Points from one, exceptions from the other. */
function joinScans(points: Scan, exceptions: Scan): Scan {
  const scanOf = (family: Family) => (family === 'exceptions' ? exceptions : points)
  return {
    read: (family, selection, after) => scanOf(family).read(family, selection, after),
    async count(families, selection) {
      const parts: Counts[] = []
      for (const family of families) parts.push(await scanOf(family).count([family], selection))
      return parts.reduce(addUp, NO_COUNTS)
    },
    countDays: (family, selection) => scanOf(family).countDays(family, selection),
    async close() {
      await points.close()
      await exceptions.close()
    },
  }
}

const addUp = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(COUNTED.map((name) => [name, a[name] + b[name]])) as unknown as Counts
