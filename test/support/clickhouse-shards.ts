// Engines of a cluster without a cluster: each is a process with a directory of its own behind the bridge, and believes to be all the shards there are. In front
// of several a server does what a Distributed table does with an insert: rows by their key to each shard, and an error if any shard has one.
import type { ServerAddress } from '../../src/store/clickhouse/client.ts'
import { CLUSTER } from './clickhouse-bridge.ts'
import { createClickHouse } from './clickhouse-process.ts'
import { freshDatabase } from './engine.ts'

export type Shard = Awaited<ReturnType<typeof startShard>>

/** An engine that is `shards` local shards of its cluster; healthy when this resolves. */
export async function startShard(shards = 1, database = freshDatabase()) {
  const server = createClickHouse(database, shards)
  await server.start()
  return { address: { ...server.address, cluster: CLUSTER } satisfies ServerAddress, server }
}

export type ShardsFront = ReturnType<typeof startShardsFront>

/** `urls` of the shards, in their order: they may go through proxies. All have the same database. */
export function startShardsFront(shards: readonly Shard[], urls: readonly string[]) {
  const { address } = shards[0]! // no test kills this engine
  const headers = { 'x-clickhouse-user': address.user, 'x-clickhouse-key': address.password }

  /** The shard of each, by ClickHouse's own hash. */
  async function shardsOf(rows: readonly (readonly [account: string, process: string])[]): Promise<number[]> {
    const sql = `SELECT cityHash64(row.1, row.2) % ${shards.length} FROM (SELECT arrayJoin(JSONExtract({rows:String}, 'Array(Tuple(String, String))')) AS row) FORMAT TSV`
    const body = new FormData()
    body.append('query', sql)
    body.append('param_rows', JSON.stringify(rows).replaceAll('\\', '\\\\'))
    const answer = await fetch(address.url, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(await answer.text())
    return (await answer.text()).trim().split('\n').map(Number)
  }

  const send = async (url: string, search: string, body: string) => {
    const answer = await fetch(`${url}/${search}`, { method: 'POST', headers, body })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { search } = new URL(request.url)
      const body = await request.text()
      const [statement = '', rows] = body.split(/(?<=\bFORMAT JSONCompactEachRow)\n/)
      try {
        const parts = urls.map(() => [] as string[])
        // a question about no table of events is answered by the host that is asked
        if (rows === undefined)
          for (const part of /^\s*(SELECT|WITH)\b/.test(body) ? parts.slice(0, 1) : parts) part.push('')
        else {
          const lines = rows.split('\n').filter((line) => line !== '')
          const at = await shardsOf(lines.map((line) => JSON.parse(line).slice(0, 2)))
          for (const [i, line] of lines.entries()) parts[at[i]!]!.push(line)
        }
        const answers = await Promise.all(
          urls.map((url, i) =>
            parts[i]!.length === 0
              ? undefined
              : send(url, search, rows === undefined ? body : `${statement}\n${parts[i]!.join('\n')}`),
          ),
        )
        const sent = answers.filter((answer) => answer !== undefined)
        const failed = sent.find(({ status }) => status !== 200)
        const { status, text, headers: own } = failed ?? sent[0]!
        const kept = new Headers(
          [...own].filter(([name]) => name.startsWith('x-clickhouse') || name === 'content-type'),
        )
        if (failed === undefined && rows !== undefined)
          kept.set('x-clickhouse-summary', JSON.stringify({ written_rows: String(rows.split('\n').length) }))
        return new Response(text, { status, headers: kept })
      } catch {
        const text = 'Code: 279. DB::NetException: All connection tries failed. (ALL_CONNECTION_TRIES_FAILED)\n'
        return new Response(text, { status: 500, headers: { 'x-clickhouse-exception-code': '279' } })
      }
    },
  })
  return {
    /** Of the substitute for the cluster. */
    address: { ...address, url: `http://127.0.0.1:${server.port}` },
    shardsOf,
    stop: () => server.stop(true),
  }
}
