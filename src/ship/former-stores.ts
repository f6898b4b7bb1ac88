// The stores that this DATA_DIR used before its settings changed. They are not read any more but hold events: this is
// logged at the start, and deleted accounts are erased there, too. The embedded engine is opened for that; credentials
// of a former server are gone, so the log names what remains.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DESTINATIONS, type Destination } from '../event/event.ts'
import type { Logger } from '../log.ts'
import type { Config } from '../settings.ts'
import { noteUsedStores, type UsedStore } from '../state/used-stores.ts'
import { openClickHouse } from '../store/clickhouse/open.ts'
import { type Sink, STORED } from '../store/sink.ts'
import { COMMAND_LINE } from '../version.ts'

type Eraser = Pick<Sink, 'store' | 'erase'>
type StoreSettings = Pick<Config, 'dataDir' | 'influx' | 'clickhouse'>

interface FormerStoresOptions {
  readonly config: StoreSettings
  readonly log: Logger
}

/** The configured store of a destination, as DATA_DIR/stores names it. */
function usedStoreOf({ influx, clickhouse }: StoreSettings, destination: Destination): UsedStore {
  const holds = [destination]
  if (destination === 'points' && influx !== undefined)
    return { kind: 'influxdb', place: `${influx.url}, bucket ${influx.bucket} of ${influx.org}`, holds }
  if (clickhouse !== undefined)
    return { kind: 'clickhouse', place: `${clickhouse.url}, database ${clickhouse.database}`, holds }
  return { kind: 'embedded', place: '', holds }
}

/** Notes configured stores; returns erasers for former ones. Logs what the embedded engine holds and nothing reads. */
export function openFormerStores({ config, log }: FormerStoresOptions): readonly Eraser[] {
  const current = DESTINATIONS.map((destination) => usedStoreOf(config, destination))
  const path = join(config.dataDir, 'clickhouse')
  const before: UsedStore[] = existsSync(path) ? [{ kind: 'embedded', place: '', holds: [] }] : [] // predates the file
  const used = noteUsedStores(config.dataDir, [...before, ...current])
  const isCurrent = ({ kind, place }: UsedStore) => current.some((now) => now.kind === kind && now.place === place)
  for (const store of used) if (store.kind === 'embedded') reportUnread(store, path, current, log)
  return used
    .filter((store) => !isCurrent(store))
    .map((store) => (store.kind === 'embedded' ? eraseEmbedded(path, log) : sayWhatRemains(store, log)))
}

const TABLES: Readonly<Record<Destination, readonly string[]>> = {
  points: ['marks_raw', 'metrics_raw'],
  exceptions: ['exceptions_raw'],
}

/** Looks at the engine's directories: opening it would cost every start a quarter of a gigabyte. */
function reportUnread(store: UsedStore, path: string, current: readonly UsedStore[], log: Logger): void {
  const unread = DESTINATIONS.filter(
    (destination) =>
      !current.some(({ kind, holds }) => kind === 'embedded' && holds.includes(destination)) &&
      !store.copied?.includes(destination) &&
      TABLES[destination].some((table) => holdsParts(join(path, 'data', 'stint', table))),
  )
  if (unread.length === 0) return
  log.warn(
    { holds: unread, directory: path },
    `the embedded ClickHouse holds ${unread.join(' and ')} that nothing reads any more: ` +
      `stop Stint and copy them with \`${COMMAND_LINE.command} copy --from embedded\``,
  )
}

/** A table's directory has one directory per part. */
function holdsParts(dir: string): boolean {
  try {
    return readdirSync(dir).some((name) => /^\d{6,8}_\d+_\d+_\d+/.test(name))
  } catch {
    return false // there is no such table
  }
}

/** No other directory of the engine is open in this process: the configured ClickHouse is a server. */
const eraseEmbedded = (path: string, log: Logger): Eraser => ({
  store: 'the former embedded ClickHouse',
  async erase(account) {
    if (!existsSync(path)) return STORED
    try {
      const engine = await openClickHouse({ address: { path }, holds: [], retentionDays: 0, log })
      try {
        return await engine.createSink().erase(account)
      } finally {
        await engine.close()
      }
    } catch (error) {
      return {
        kind: 'wait',
        reason: `${(error as Error).message} Or delete ${path} if its events are not needed any more.`,
      }
    }
  },
})

const sayWhatRemains = ({ kind, place }: UsedStore, log: Logger): Eraser => ({
  store: `${kind} ${place}`,
  async erase(account) {
    const store = `${kind} ${place}`
    log.warn(
      { account, store },
      'a deleted account may have data in a store that is no longer configured: delete it there',
    )
    return STORED
  },
})
