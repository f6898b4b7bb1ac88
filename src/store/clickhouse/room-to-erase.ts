// A mutation rewrites each part of a table beside the old one, with some room more. ClickHouse does not begin with a
// part that has none on its disk, and reports nothing: a statement that waits for the mutation waits until there is
// room.
import type { ClickHouseClient } from './client.ts'
import { listOf } from './selection.ts'

/** What ClickHouse reserves for a part of one byte. */
const RESERVED = 1.1

interface Part {
  readonly bytes: string
  readonly free: string
}

/**
 * Says how much room the part of these tables (`database.table`) lacks that lacks most; undefined if all fit, or the
 * user may not know.
 */
export async function findLackingRoom(
  client: ClickHouseClient,
  stored: readonly string[],
): Promise<string | undefined> {
  const { list, params } = listOf(
    'tables',
    stored.map((table) => table.replaceAll('`', '')),
  )
  const sql = `SELECT toString(bytes_on_disk) AS bytes, toString(unreserved_space) AS free
FROM system.parts AS parts INNER JOIN system.disks AS disks ON disks.name = parts.disk_name
WHERE parts.active AND concat(parts.database, '.', parts.table) IN ${list}
ORDER BY bytes_on_disk * ${RESERVED} - unreserved_space DESC LIMIT 1`
  const [part] = await client.select<Part>(sql, params).catch((): Part[] => [])
  if (part === undefined) return undefined
  const needed = Number(part.bytes) * RESERVED
  const free = Number(part.free)
  if (needed <= free) return undefined
  const [all, left] = [Math.ceil(needed / 1e6), Math.floor(free / 1e6)]
  return `erasing needs ${all} MB free for the largest part, and ${left} MB are: ${all - left} MB are missing`
}
