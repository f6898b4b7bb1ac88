// The note of a process: what to do if it fails, in the words of those who run it.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, jsonBody } from './route.ts'
import { closed, orNull, ProcessName, Text, TimeMs } from './shapes.ts'

const NOTE = 'Runs on db-2. If it fails: free space in /var/backup, then start it again by hand.'
const NOTE_MAX = 4_000

/** Null without a note. */
export const ProcessNote = Type.Object({
  note: orNull(Text(NOTE), NOTE, 'The note of the process, in plain text.'),
  note_by: orNull(Type.String({ description: 'Who wrote it: an e-mail address, or a key.' }), 'ada@example.com'),
  note_at: orNull(TimeMs, '2026-11-20T21:52:42.171Z'),
})
export type ProcessNote = Static<typeof ProcessNote>

const WriteNote = closed({
  process: Type.String({ ...ProcessName, minLength: 1, maxLength: 250 }),
  note: Type.String({
    maxLength: NOTE_MAX,
    pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$',
    fault: 'must not contain control characters, but for tabs and line breaks',
    description: 'Plain text; empty: deletes it.',
    examples: [NOTE],
  }),
  replaces: Type.Optional(
    Type.Union([TimeMs, Type.Null()], {
      description:
        '`note_at` of the note that this one replaces, null for the first one. If another one was written since, it ' +
        'is kept, and the answer is 409 (`note_changed`). Absent: the last one who writes wins.',
    }),
  ),
})
export type WriteNote = Static<typeof WriteNote>

export const ProcessNotes = Type.Object({
  notes: Type.Array(Type.Object({ process: ProcessName, ...ProcessNote.properties }), {
    description: 'By the name of the process, at most 1,000.',
  }),
})
export type ProcessNotes = Static<typeof ProcessNotes>

export const LIST_NOTES = defineRoute('GET /api/processes/notes', {
  tag: 'watches',
  access: 'view',
  summary: 'List the notes of all processes',
  answers: { 200: json('The notes', ProcessNotes) },
})

export const WRITE_NOTE = defineRoute('PUT /api/processes/note', {
  tag: 'watches',
  access: 'manage',
  audit: 'process_note_written',
  problems: ['note_changed'],
  summary: 'Write the note of a process',
  description: 'What to do if it fails: shown with its alerts and on its page, and in webhooks as `data.note`.',
  bodyMaxBytes: 64 * 1024, // JSON may write each character as two escapes, 12 bytes
  body: jsonBody(WriteNote, { process: 'nightly import', note: NOTE }),
  answers: { 200: json('The note', ProcessNote) },
})
