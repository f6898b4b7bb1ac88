// The dialogs that plan, change, end and delete a maintenance.
import { useState } from 'preact/hooks'
import type { Maintenance } from '../../wire/maintenance.ts'
import { ACTION_TEXT } from '../../wire/words.ts'
import { ConfirmDialog, confirm, confirmDelete } from '../kit/confirm.tsx'
import { Field, SelectField, type Values } from '../kit/form.tsx'
import { parseTime, readMoment, writeMoment, zoneName } from '../kit/format-time.ts'
import { useView, type View } from '../kit/view.tsx'

const HOUR_MS = 3_600_000
const MINUTE_S = 60
const KINDS = { once: 'once', repeat: 'repeatedly' }

interface DialogProps {
  /** One to change. */
  readonly given?: Maintenance
  /** The process of a new maintenance. */
  readonly process?: string
  close(): void
}

export const askToEdit = ({ open }: View, given: Maintenance): void =>
  open((close) => <MaintenanceDialog {...{ given, close }} />)

export function MaintenanceDialog({ given, process = '', close }: DialogProps) {
  const { app } = useView()
  const [kind, setKind] = useState(given?.repeat == null ? 'once' : 'repeat')
  const label = given === undefined ? ACTION_TEXT.maintenance : 'Save maintenance'
  async function submit(values: Values) {
    const body = toBody(values, kind === 'once', given, app.nowMs())
    if (given === undefined) await app.api.send('POST', 'api/maintenance', body)
    else await app.api.send('PATCH', `api/maintenance/${given.id}`, body)
    return 'Maintenance saved.'
  }
  return (
    <ConfirmDialog
      title={given === undefined ? ACTION_TEXT.maintenance : 'Edit maintenance'}
      class="dialog-wide"
      text="Notifications are held back. What still fires at the end is notified then."
      submitLabel={label}
      submit={submit}
      close={close}
    >
      <div class="field-pair">
        <Field
          name="process"
          label="Process"
          hint="A name, or with * for any text, such as backup*; * alone is every process."
          required
          maxLength={250}
          value={given?.process ?? process}
        />
        <SelectField name="kind" label="Happens" options={KINDS} value={kind} choose={setKind} />
      </div>
      {kind === 'once' ? <Once given={given} nowMs={app.nowMs()} /> : <Repeating given={given} />}
    </ConfirmDialog>
  )
}

type Given = { readonly given: Maintenance | undefined }

function Once({ given, nowMs }: Given & { nowMs: number }) {
  const zone = `In ${zoneName(nowMs)}`
  const toText = (at: string | null | undefined) => (at == null ? '' : writeMoment(parseTime(at)))
  const from = toText(given?.from)
  const to = given === undefined ? writeMoment(Math.ceil((nowMs + HOUR_MS) / 60_000) * 60_000) : toText(given.to)
  /** Seconds are shown where somebody set them. */
  const stepOf = (text: string) => (text === '' || text.endsWith(':00') ? MINUTE_S : 1)
  return (
    <div class="field-pair">
      <Field
        name="from"
        label="From"
        hint={`${zone}. Empty: now.`}
        type="datetime-local"
        step={stepOf(from)}
        value={from}
      />
      <Field name="to" label="Until" hint={`${zone}.`} type="datetime-local" step={stepOf(to)} value={to} required />
    </div>
  )
}

function Repeating({ given }: Given) {
  const repeat = given?.repeat
  const tz = repeat?.tz ?? (given === undefined ? Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC')
  return (
    <div class="field-pair">
      <Field
        name="repeat/cron"
        label="Begins at (cron expression)"
        placeholder="0 2 * * 0"
        required
        maxLength={200}
        value={repeat?.cron ?? ''}
      />
      <Field name="repeat/tz" label="Time zone" maxLength={100} value={tz} />
      <Field name="repeat/length" label="Lasts" required value={repeat?.length ?? '2h'} />
    </div>
  )
}

/** A repeating one keeps its limits, which the API or "End now" has set; the form does not show them. */
function toBody(values: Values, isOnce: boolean, given: Maintenance | undefined, nowMs: number): object {
  const { process, repeat, from, to } = values
  const limits = given?.repeat == null ? undefined : given
  if (!isOnce) return { process, repeat, from: limits?.from ?? null, to: limits?.to ?? null }
  const at = (text: unknown, ms: number) => new Date(typeof text === 'string' ? readMoment(text) : ms).toISOString()
  return { process, repeat: null, from: at(from, nowMs), to: at(to, nowMs) }
}

/** One that repeats continues with the next time. */
export function askForEnd(view: View, { id, process, repeat, until }: Maintenance): void {
  const isLast = repeat === null || until === null // its stretches may have no break between them
  confirm(view, {
    title: `End the maintenance of ${process} now?`,
    text: `What still fires is notified at once.${isLast ? '' : ' It repeats at the next time.'}`,
    submitLabel: 'End now',
    async submit() {
      const { api, nowMs } = view.app
      const change = isLast ? { to: new Date(nowMs()).toISOString() } : { from: until }
      await api.send('PATCH', `api/maintenance/${id}`, change)
      return 'Maintenance ended.'
    },
  })
}

export const askForDeletion = (view: View, { id, process, active }: Maintenance): void =>
  confirmDelete(view, {
    title: `Delete the maintenance of ${process}?`,
    text: active ? 'It ends: what still fires is notified at once.' : 'Notifications are no longer held back then.',
    submitLabel: 'Delete maintenance',
    path: `api/maintenance/${id}`,
    done: 'Maintenance deleted.',
  })
