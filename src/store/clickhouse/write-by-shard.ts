// Writes a batch to a cluster, one INSERT per shard. In one INSERT for all, a shard that is down fails the rows of the
// others, too, and they would store them again with every retry. Which shard an event is grouped under decides nothing
// else: the Distributed table sends each row where it belongs.
import type { Event } from '../../event/event.ts'
import type { Sink, WriteResult } from '../sink.ts'
import { STORED } from '../sink.ts'
import type { ClickHouseClient } from './client.ts'
import { type Cluster, SHARDING_KEY } from './cluster.ts'
import { ClickHouseFault, judgeFailure } from './judge-failure.ts'
import { listOf } from './selection.ts'

/** Of pairs of account and process; then the map is emptied. */
const KNOWN_MAX = 100_000

/** A hold is the answer before a refusal: the batch waits for every shard anyway. */
const RANK: Readonly<Record<WriteResult['kind'], number>> = { wait: 0, retry: 1, refused: 2, too_large: 3, stored: 4 }

export function createWriteByShard(client: ClickHouseClient, cluster: Cluster, write: Sink['write']): Sink['write'] {
  const known = new Map<string, number>()
  /** Events that their shard has, while a batch holds them. */
  const taken = new WeakSet<Event>()

  /** Throws ClickHouseFault. */
  async function learn(events: readonly Event[]): Promise<void> {
    const unknown = new Map(events.map(({ account, process }) => [keyOf({ account, process }), [account, process]]))
    for (const key of unknown.keys()) if (known.has(key)) unknown.delete(key)
    if (unknown.size === 0) return
    if (known.size + unknown.size > KNOWN_MAX) known.clear()
    for (const { account, process, shard } of await selectShards(client, cluster, [...unknown.values()]))
      known.set(keyOf({ account, process }), Number(shard))
  }

  async function writeTo(shard: number | undefined, events: readonly Event[]): Promise<WriteResult> {
    const result = await write(events)
    if (result.kind === 'stored') for (const event of events) taken.add(event)
    if (result.kind !== 'wait' && result.kind !== 'retry') return result
    return { ...result, reason: shard === undefined ? result.reason : `shard ${shard}: ${result.reason}` }
  }

  return async (events) => {
    const left = events.filter((event) => !taken.has(event))
    try {
      await learn(left)
    } catch (error) {
      if (error instanceof ClickHouseFault) return judgeFailure(error)
      throw error
    }
    const byShard = Map.groupBy(left, (event) => known.get(keyOf(event)))
    const results = await Promise.all([...byShard].map(([shard, part]) => writeTo(shard, part)))
    return results.toSorted((a, b) => RANK[a.kind] - RANK[b.kind])[0] ?? STORED
  }
}

const keyOf = ({ account, process }: Pick<Event, 'account' | 'process'>): string => `${account}\0${process}`

interface ShardRow extends Pick<Event, 'account' | 'process'> {
  readonly shard: number | string
}

/** A Distributed table takes the key modulo the sum of the weights; each shard has as many slots as its weight. */
function selectShards(client: ClickHouseClient, { name }: Cluster, pairs: readonly (readonly string[])[]) {
  const { list, params } = listOf('pairs', pairs, 'Tuple(String, String)')
  const ends = 'SELECT shard_num, shard_weight FROM system.clusters WHERE cluster = {cluster:String} GROUP BY ALL'
  return client.select<ShardRow>(
    `WITH (SELECT arraySort(groupArray((shard_num, shard_weight))) FROM (${ends})) AS shards,
  arrayCumSum(shard -> shard.2, shards) AS ends
SELECT row.1 AS account, row.2 AS process,
  shards[arrayFirstIndex(end -> end > ${SHARDING_KEY} % arraySum(shard -> shard.2, shards), ends)].1 AS shard
FROM (SELECT arrayJoin(${list}) AS row)`,
    { ...params, cluster: name },
  )
}
