// DATA_DIR/stores: the stores that the last start was configured with, without credentials. A start with others says what
// that means: the history stays where it is.
import { existsSync } from 'node:fs'
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

/** Logs stores of the last start that are not configured now. Throws an Error that names the file when it is damaged. */
export function noteStores(config: StoreSettings, log: Logger): void {
  const path = join(config.dataDir, 'stores')
  const now = DESTINATIONS.map((destination) => storeOf(config, destination))
  const names = new Set(now.map(nameOf))
  for (const store of readNoted(path, config.dataDir).map(nameOf))
    if (!names.has(store))
      log.warn(
        { store },
        'events stay in a store that is no longer configured, and deleting an account does not reach them there: ' +
          `\`${COMMAND_LINE.command} copy\` moves them`,
      )
  const text = [...new Set(now.map((store) => `${JSON.stringify(store)}\n`))].join('')
  if (readIfThere(path)?.toString() !== text) writeWhole(path, text)
}

function readNoted(path: string, dataDir: string): NotedStore[] {
  const text = readIfThere(path)?.toString()
  // versions before the file had the engine
  if (text === undefined) return existsSync(join(dataDir, 'clickhouse')) ? [{ kind: 'embedded', place: '' }] : []
  try {
    return text.trimEnd().split('\n').map(parseStore)
  } catch (cause) {
    throw new Error(`${path} is damaged: delete it`, { cause })
  }
}

function parseStore(line: string): NotedStore {
  const { kind, place } = JSON.parse(line) as NotedStore
  if (!['embedded', 'clickhouse', 'influxdb'].includes(kind) || typeof place !== 'string')
    throw new Error('not a store')
  return { kind, place }
}
