// An alert with everything about it, and the note of a process, which stands beside its alerts.
import { checkProcess, stripText } from '../../event/fields.ts'
import { type AlertDetail, SHOW_ALERT } from '../../wire/alert-detail.ts'
import {
  LIST_NOTES,
  type ProcessNote,
  type ProcessNotes,
  WRITE_NOTE,
  type WriteNote,
} from '../../wire/process-notes.ts'
import type { NameOf } from '../authorize.ts'
import { compressedJson } from '../compressed.ts'
import type { Mounts } from '../mount.ts'

export interface AlertRoutesDeps {
  /** `isBrief`: of what receivers answered only the status. */
  showAlert(account: string, id: string, isBrief: boolean, left: AbortSignal): Promise<AlertDetail>
  notes(account: string): Promise<ProcessNotes['notes']>
  writeNote(account: string, note: WriteNote, by: string): Promise<ProcessNote>
}

export function mountAlerts({ on }: Mounts, { showAlert, notes, writeNote }: AlertRoutesDeps, nameOf: NameOf): void {
  on(SHOW_ALERT, async ({ account, role, key }, { request, params }) => {
    const isBrief = role === 'viewer' || key?.manage === false
    return compressedJson(request, await showAlert(account, params.id, isBrief, request.signal))
  })
  on(LIST_NOTES, async ({ account }, { request }) => compressedJson(request, { notes: await notes(account) }))
  on(WRITE_NOTE, { process: (process) => checkProcess(process)[0] }, async (asker, { body, noted }) => {
    const process = stripText(body.process)
    const note = { ...body, process, note: body.note.trim() }
    const written = await writeNote(asker.account, note, await nameOf(asker))
    noted.target = process
    noted.detail = written.note === null ? 'deleted' : `${[...written.note].length} characters`
    return written
  })
}
