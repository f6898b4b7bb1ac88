// DATA_DIR/stores: every store that this DATA_DIR ever delivered to, without credentials. A store that is no longer
// configured still holds events: the start can say so, and an account that is deleted must be deleted there, too.
import { join } from 'node:path'
import { readIfThere, writeWhole } from './whole-file.ts'

export interface UsedStore {
  readonly kind: 'embedded' | 'clickhouse' | 'influxdb'
  /** The server and its database or bucket, for people; '' for the embedded engine. */
  readonly place: string
  /** The destinations that it ever held. */
  readonly holds: readonly string[]
  /** All events of these destinations were copied into the stores that came after. */
  readonly copied?: readonly string[]
}

/** Empty when nothing was noted yet. Throws an Error that names the file when it is damaged. */
function readUsedStores(dataDir: string): readonly UsedStore[] {
  const path = join(dataDir, 'stores')
  const text = readIfThere(path)?.toString()
  if (text === undefined) return []
  try {
    return text.trimEnd().split('\n').map(parseStore)
  } catch (cause) {
    throw new Error(`${path} is damaged: delete it if no store but the configured ones was ever used`, { cause })
  }
}

function parseStore(line: string): UsedStore {
  const store = JSON.parse(line) as UsedStore
  if (!['embedded', 'clickhouse', 'influxdb'].includes(store.kind) || !Array.isArray(store.holds))
    throw new Error('not a store')
  return store
}

/**
 * Adds the stores, merged with what is known of them: what one of `stores` holds gets new events, so it is no longer
 * copied. Durable when it returns; nothing is written when all is known.
 */
export function noteUsedStores(dataDir: string, stores: readonly UsedStore[]): readonly UsedStore[] {
  const known = readUsedStores(dataDir)
  const all = new Map(known.map((store) => [keyOf(store), store]))
  for (const store of stores) all.set(keyOf(store), merge(all.get(keyOf(store)), store))
  const merged = [...all.values()]
  const text = merged.map((store) => `${JSON.stringify(store)}\n`).join('')
  if (text === known.map((store) => `${JSON.stringify(store)}\n`).join('')) return merged
  writeWhole(join(dataDir, 'stores'), text)
  return merged
}

const keyOf = ({ kind, place }: UsedStore) => `${kind} ${place}`

function merge(known: UsedStore | undefined, { kind, place, holds, copied = [] }: UsedStore): UsedStore {
  const union = (a: readonly string[] = [], b: readonly string[] = []) => [...new Set([...a, ...b])]
  const all = union(known?.copied, copied).filter((destination) => !holds.includes(destination))
  return { kind, place, holds: union(known?.holds, holds), ...(all.length > 0 && { copied: all }) }
}
