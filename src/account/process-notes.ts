// The note of a process: what to do if it fails. One row per account and process, no row without a note.
import { toTime } from '../clock.ts'
import { Problem } from '../problem.ts'
import { get, run, type SqlDatabase } from '../state/database.ts'
import type { ProcessNote } from '../wire/process-notes.ts'

const NOTES_MAX = 1_000

const NO_NOTE: ProcessNote = { note: null, note_by: null, note_at: null }

interface Row {
  readonly note: string
  readonly written_by: string
  readonly written_ms: number
}

const toNote = ({ note, written_by, written_ms }: Row): ProcessNote => ({
  ...{ note, note_by: written_by, note_at: toTime(written_ms) },
})

/** All reject with Problem `store_unavailable`, `put` also with `limit_reached`, `disk_low` and `disk_failed`. */
export function createProcessNotes(database: SqlDatabase, nowMs: () => number) {
  return {
    async find(account: string, process: string): Promise<ProcessNote> {
      const select = 'SELECT note, written_by, written_ms FROM process_note WHERE account = $1 AND process = $2'
      const row = await database.read(() => get<Row>(select, account, process))
      return row === undefined ? NO_NOTE : toNote(row)
    },
    /** An empty one deletes it. `by`: the person or key. */
    put: (account: string, process: string, note: string, by: string): Promise<ProcessNote> =>
      database.write(function* () {
        if (note === '') {
          yield* run('DELETE FROM process_note WHERE account = $1 AND process = $2', account, process)
          return NO_NOTE
        }
        if ((yield* get('SELECT 1 FROM account WHERE id = $1', account)) === undefined)
          throw new Problem('not_found', 'The account is gone.')
        const others = 'SELECT count(*) n FROM process_note WHERE account = $1 AND process <> $2'
        const known = yield* get<{ n: number }>(others, account, process)
        if (Number(known!.n) >= NOTES_MAX)
          throw new Problem('limit_reached', `An account has at most ${NOTES_MAX} notes. Delete one first.`)
        const row = { note, written_by: by, written_ms: nowMs() }
        yield* run(
          `INSERT INTO process_note (account, process, note, written_by, written_ms) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, process) DO UPDATE SET note = excluded.note, written_by = excluded.written_by,
             written_ms = excluded.written_ms`,
          ...[account, process, note, by, row.written_ms],
        )
        return toNote(row)
      }),
  }
}
