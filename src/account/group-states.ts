// Decisions about groups of exceptions, by account, fingerprint and process: resolved or ignored, by whom and when; no
// row = unresolved. A state outlives its fingerprint's version: it belongs to the exceptions stored with that version.
import { Problem } from '../problem.ts'
import { all, get, inParts, insertRows, places, run, type SqlDatabase } from '../state/database.ts'

const STATES_MAX = 10_000
/** As long as the audit log says who did it. A group that occurs again later is unresolved instead of regressed. */
const RESOLVED_KEPT_US = 365 * 86_400_000_000

/** A row of exception_group. */
interface GroupRow {
  readonly fingerprint: string
  readonly process: string
  readonly status: 'resolved' | 'ignored'
  readonly by: string
  /** µs since the epoch. */
  readonly atUs: number
}

const SELECT =
  'SELECT fingerprint, process, status, changed_by AS "by", changed_us AS "atUs" FROM exception_group WHERE ' +
  'account = $1'

const REPLACE =
  '(account, fingerprint, process) DO UPDATE SET status = excluded.status, changed_by = excluded.changed_by, ' +
  'changed_us = excluded.changed_us'

/** All reject with Problem `store_unavailable`; `put` and `remove` also with `disk_low` and `disk_failed`. */
export function createGroupStates(database: SqlDatabase, nowUs: () => number) {
  return {
    list: (account: string): Promise<GroupRow[]> => database.read(() => all<GroupRow>(SELECT, account)),
    find: (account: string, process: string, fingerprints: readonly string[]): Promise<GroupRow[]> =>
      database.read(() => {
        const named = places(1, fingerprints.length, 2)
        return all<GroupRow>(
          `${SELECT} AND process = $2 AND fingerprint IN ${named}`,
          account,
          process,
          ...fingerprints,
        )
      }),
    /** All or none. Rejects with Problem `limit_reached`. */
    put: (account: string, states: readonly GroupRow[]): Promise<void> =>
      database.write(function* () {
        if ((yield* get('SELECT 1 FROM account WHERE id = $1', account)) === undefined)
          throw new Problem('not_found', 'The account is gone.')
        const expire = "DELETE FROM exception_group WHERE account = $1 AND status = 'resolved' AND changed_us < $2"
        yield* run(expire, account, nowUs() - RESOLVED_KEPT_US)
        const rows = states.map(({ by, atUs, ...state }) => ({ account, ...state, changed_by: by, changed_us: atUs }))
        yield* insertRows('exception_group', rows, REPLACE)
        const count = 'SELECT count(*) n FROM exception_group WHERE account = $1'
        if ((yield* get<{ n: number }>(count, account))!.n > STATES_MAX)
          throw new Problem(
            'limit_reached',
            `An account keeps at most ${STATES_MAX.toLocaleString('en-US')} resolved and ignored groups. Reopen ` +
              'some first.',
          )
      }),
    /** They are unresolved then. */
    remove: (account: string, groups: readonly Pick<GroupRow, 'fingerprint' | 'process'>[]): Promise<void> =>
      database.write(function* () {
        for (const some of inParts(groups))
          yield* run(
            `DELETE FROM exception_group WHERE account = $1 AND (fingerprint, process) IN
             (VALUES ${places(some.length, 2, 1)})`,
            account,
            ...some.flatMap(({ fingerprint, process }) => [fingerprint, process]),
          )
      }),
  }
}
