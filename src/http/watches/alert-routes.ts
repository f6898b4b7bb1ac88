// An alert with everything about it, and the note of a process, which stands beside its alerts.
import { checkProcess, stripText } from '../../event/fields.ts'
import { type AlertDetail, SHOW_ALERT } from '../../wire/alert-detail.ts'
import { type ProcessNote, WRITE_NOTE } from '../../wire/process-notes.ts'
import type { NameOf } from '../authorize.ts'
import { compressedJson } from '../compressed.ts'
import type { Mounts } from '../mount.ts'

export interface AlertRoutesDeps {
  /** `isBrief`: of what receivers answered only the status. */
  showAlert(account: string, id: string, isBrief: boolean, left: AbortSignal): Promise<AlertDetail>
  writeNote(account: string, process: string, note: string, by: string): Promise<ProcessNote>
}

export function mountAlerts({ on }: Mounts, { showAlert, writeNote }: AlertRoutesDeps, nameOf: NameOf): void {
  on(SHOW_ALERT, async ({ account, role, key }, { request, params }) => {
    const isBrief = role === 'viewer' || key?.manage === false
    return compressedJson(request, await showAlert(account, params.id, isBrief, request.signal), () => {})
  })
  on(WRITE_NOTE, { process: (process) => checkProcess(process)[0] }, async (asker, { body, noted }) => {
    const process = stripText(body.process)
    const written = await writeNote(asker.account, process, body.note.trim(), await nameOf(asker))
    noted.target = process
    noted.detail = written.note === null ? 'deleted' : `${[...written.note].length} characters`
    return written
  })
}
