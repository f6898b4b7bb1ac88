// Accounts in PostgreSQL, shared by all nodes, and this node's copy of what intake needs of them.
import type { Secret } from '../../secret.ts'
import { all, type Script, type SqlDatabase } from '../../state/database.ts'
import { openPostgres, whyAway } from '../../state/postgres.ts'
import { type Accounts, type AccountsOptions, createAccounts } from '../accounts.ts'
import { loadKeyRing } from '../key-ring.ts'
import { createSeriesBudget } from '../series-budget.ts'
import { loadSuspensions } from '../suspensions.ts'
import { openUse } from '../use.ts'
import { createFollowChanges, type FollowChanges } from './follow-changes.ts'
import { openReplica, type Replica } from './replica.ts'

export interface OpenSharedAccountsOptions extends AccountsOptions {
  /** postgres://user:password@host:port/database */
  readonly url: Secret
  /** Path of this node's copy. */
  readonly replicaPath: string
}

/** Throws an Error for the operator if PostgreSQL is away and this node has no copy yet, or if a file is damaged. */
export async function openSharedAccounts(options: OpenSharedAccountsOptions): Promise<Accounts> {
  const { url, replicaPath, clock, log, seriesMax = 0 } = options
  const replica = openReplica(replicaPath, log)
  const postgres = openPostgres(url)
  const ring = loadKeyRing(replica.file.db, clock)
  const suspensions = loadSuspensions(replica.file.db, ring)
  const series = createSeriesBudget({ database: replica.file, max: seriesMax, log })
  const use = openUse({ file: replica.file, clock, log })
  const onRemoved = (account: string) => {
    for (const part of [suspensions, series, use]) part.dropAccount(account)
  }
  const follow = createFollowChanges({ postgres, replica, ring, suspensions, clock, log, onRemoved })
  try {
    await follow.catchUp()
  } catch (cause) {
    if (replica.isEmpty()) {
      await use.close()
      replica.file.close()
      await postgres.close()
      throw new Error(`PostgreSQL cannot be used: ${reasonOf(cause)}. The first start needs it; check DATABASE_URL`, {
        cause,
      })
    }
    log.warn({ err: cause }, `accounts: ${whyAway(cause)}; events are accepted by the known keys`)
  }
  follow.start()
  return createAccounts(
    {
      database: readingBack(postgres, follow, replica),
      local: replica.file,
      ring: { ...ring, set: ring.restrict }, // `follow` gives, and may know already that another node revoked the key
      suspensions,
      series,
      use,
      stopWork: follow.stop,
      hasFormerNodes,
      disputedBy: replica.disputedBy,
    },
    options,
  )
}

/** A node of 2.0 reports nothing about links. Its last row is not a sign of life once it has been silent this long. */
const FORMER_SEEN_US = 180_000_000

function* hasFormerNodes(): Script<boolean> {
  const nodes = yield* all<{ report: string }>(
    'SELECT report FROM node WHERE seen_us > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1',
    FORMER_SEEN_US,
  )
  return nodes.some(({ report }) => JSON.parse(report).links !== true)
}

/** A change is known at its own node when it resolves, or by the poll if PostgreSQL goes away right after it. */
const readingBack = (postgres: SqlDatabase, follow: FollowChanges, { file }: Replica): SqlDatabase => ({
  read: postgres.read,
  async write(script) {
    const result = await postgres.write(script)
    await follow.catchUp().catch(() => {})
    return result
  },
  async close() {
    file.close()
    await postgres.close()
  },
})

/** The driver's own words; they hold no password. */
const reasonOf = (cause: unknown): string => {
  const { message, cause: inner } = cause as Error
  return inner instanceof Error ? inner.message : message
}
