// DATA_DIR/stores: the stores of the last start, without credentials. A start with other stores logs that the history
// stays where it is.
import { join } from 'node:path'
import { DESTINATIONS, type Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Config } from '../settings.ts'
import { readIfThere, writeWhole } from '../state/whole-file.ts'
import { COMMAND_LINE } from '../version.ts'

type StoreSettings = Pick<Config, 'dataDir' | 'influx' | 'clickhouse'>

interface NotedStore {
  readonly kind: 'embedded' | 'clickhouse' | 'influxdb'
  /** The server and its database or bucket, for people; '' for the embedded engine. */
  readonly place: string
}

function storeOf({ influx, clickhouse }: StoreSettings, destination: Destination): NotedStore {
  if (destination === 'points' && influx !== undefined)
    return { kind: 'influxdb', place: `${influx.url}, bucket ${influx.bucket} of ${influx.org}` }
  if (clickhouse !== undefined)
    return { kind: 'clickhouse', place: `${clickhouse.url}, database ${clickhouse.database}` }
  return { kind: 'embedded', place: '' }
}

const nameOf = ({ kind, place }: NotedStore): string =>
  kind === 'embedded' ? 'the embedded ClickHouse' : `${kind} ${place}`

/** Logs stores of the last start that are not configured now. */
export function noteStores(config: StoreSettings, log: Logger): void {
  const path = join(config.dataDir, 'stores')
  const now = DESTINATIONS.map((destination) => storeOf(config, destination))
  const names = new Set(now.map(nameOf))
  const noted = readIfThere(path)?.toString() ?? ''
  for (const store of noted.split('\n').filter(Boolean).map(readName))
    if (!names.has(store))
      log.warn(
        { store },
        'events stay in a store that is no longer configured, and deleting an account does not reach them there: ' +
          `\`${COMMAND_LINE.command} copy\` moves them`,
      )
  const text = [...new Set(now.map((store) => `${JSON.stringify(store)}\n`))].join('')
  if (noted !== text) writeWhole(path, text)
}

/** A damaged line is shown as it is. */
function readName(line: string): string {
  try {
    return nameOf(JSON.parse(line))
  } catch {
    return line
  }
}
