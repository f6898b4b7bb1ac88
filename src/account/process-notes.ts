// The note of a process: what to do if it fails. One row per account and process, no row without a note.
import { toTime } from '../clock.ts'
import { Problem } from '../problem.ts'
import { all, get, run, type SqlDatabase } from '../state/database.ts'
import type { ProcessNote, ProcessNotes, WriteNote } from '../wire/process-notes.ts'

const NOTES_MAX = 1_000

const NO_NOTE: ProcessNote = { note: null, note_by: null, note_at: null }

interface Row {
  readonly note: string
  readonly written_by: string
  readonly written_ms: number
}

function toNote({ note, written_by, written_ms }: Row): ProcessNote {
  return { note, note_by: written_by, note_at: toTime(written_ms) }
}

const SELECT = 'SELECT note, written_by, written_ms FROM process_note WHERE account = $1 AND process = $2'

const describeChange = (by: string | null, at: string | null): string =>
  at === null ? 'It was deleted meanwhile.' : `${by} wrote another one at ${at}.`

/** All reject with `store_unavailable`, `put` also with `note_changed`, `limit_reached`, `disk_low`, `disk_failed`. */
export function createProcessNotes(database: SqlDatabase, nowMs: () => number) {
  return {
    async find(account: string, process: string): Promise<ProcessNote> {
      const row = await database.read(() => get<Row>(SELECT, account, process))
      return row === undefined ? NO_NOTE : toNote(row)
    },
    async list(account: string): Promise<ProcessNotes['notes']> {
      const select = 'SELECT process, note, written_by, written_ms FROM process_note WHERE account = $1'
      const rows = await database.read(() => all<Row & { readonly process: string }>(select, account))
      return rows
        .map((row) => ({ process: row.process, ...toNote(row) }))
        .sort((a, b) => (a.process < b.process ? -1 : 1))
    },
    /** An empty one deletes it. `by`: the person or key. */
    put: (account: string, { process, note, replaces }: WriteNote, by: string): Promise<ProcessNote> =>
      database.write(function* () {
        if (replaces !== undefined) {
          const held = yield* get<Row>(SELECT, account, process)
          const { note_by, note_at } = held === undefined ? NO_NOTE : toNote(held)
          if (note_at !== replaces) throw new Problem('note_changed', describeChange(note_by, note_at))
        }
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
