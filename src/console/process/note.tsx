// The note of a process: its people write down what to do if it fails. Shown on its page and with each of its alerts.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ProcessNote as Written } from '../../wire/process-notes.ts'
import { FieldFrame, Form, type Values } from '../kit/form.tsx'
import { formatAgo, parseTime } from '../kit/format-time.ts'
import { Card } from '../kit/icon.tsx'
import { useView } from '../kit/view.tsx'

interface Props {
  readonly process: string
  readonly written: Written
}

/** Polls change neither the text that somebody edits nor the focus. */
export function ProcessNote({ process, written: { note, note_by: by, note_at: at } }: Props) {
  const { app, nowMs, again } = useView()
  /** `note_at` of the note that is edited. */
  const [edited, setEdited] = useState<{ readonly at: string | null }>()
  const isEdited = edited !== undefined
  const button = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  useLayoutEffect(() => {
    if (wasEdited.current && !isEdited) button.current?.focus()
    wasEdited.current = isEdited
  }, [isEdited])
  async function save({ note: text = '' }: Values): Promise<void> {
    try {
      await app.api.send('PUT', 'api/processes/note', { process, note: text, replaces: edited?.at ?? null })
      app.announce('Note saved.')
      setEdited(undefined)
    } finally {
      again() // shows what somebody else has written
    }
  }
  const edit = app.may('member') && !isEdited && (
    <button ref={button} type="button" class="button button-small" onClick={() => setEdited({ at })}>
      {note === null ? 'Write a note' : 'Edit note'}
    </button>
  )
  return (
    <Card title="If it fails" class="process-note" end={edit}>
      {isEdited ? (
        <>
          <NoteForm text={note ?? ''} save={save} cancel={() => setEdited(undefined)} />
          {at !== edited.at && (
            <div class="banner banner-warn" role="status">
              <p class="note-text">
                {note === null ? 'The note was deleted.' : `${by} has written meanwhile:\n${note}`}
              </p>
              <button type="button" class="button button-small" onClick={() => setEdited({ at })}>
                Keep mine
              </button>
            </div>
          )}
        </>
      ) : note === null ? (
        <p class="muted">No note says what to do.</p>
      ) : (
        <>
          <p class="note-text">{withLinks(note)}</p>
          {by !== null && at !== null && (
            <p class="sub">
              <bdi>{by}</bdi>, {formatAgo(parseTime(at), nowMs)}
            </p>
          )}
        </>
      )}
    </Card>
  )
}

interface FormProps {
  readonly text: string
  save(values: Values): Promise<void>
  cancel(): void
}

function NoteForm({ text, save, cancel }: FormProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [before] = useState(text)
  useLayoutEffect(() => area.current!.focus(), [])
  return (
    <Form
      submitLabel="Save note"
      submit={save}
      buttons={
        <button type="button" class="button" onClick={cancel}>
          Cancel
        </button>
      }
    >
      <FieldFrame name="note" label="What to do" hint="Plain text; web addresses become links. Empty deletes the note.">
        {(about) => <textarea {...about} ref={area} name="note" rows={6} defaultValue={before} />}
      </FieldFrame>
    </Form>
  )
}

/** Up to a mark that ends a sentence. */
const ADDRESS = /(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}])/i

/** Only `http:` and `https:` lead anywhere; all else is text. */
function withLinks(text: string): ComponentChildren {
  return text.split(ADDRESS).map((part, i) =>
    i % 2 === 1 && URL.canParse(part) ? (
      <a key={i} href={part} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  )
}
