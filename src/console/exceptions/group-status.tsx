// What people decided about a group of exceptions: its badge, and the buttons that change it.
import { useState } from 'preact/hooks'
import type { ChangeExceptionGroup, ExceptionGroup } from '../../wire/exceptions.ts'
import { explain } from '../kit/explain.ts'
import { Ago } from '../kit/time.tsx'
import { useView } from '../kit/view.tsx'
import { lineOf } from './line-of.ts'

interface Props {
  readonly group: ExceptionGroup
}

const BADGES = {
  unresolved: undefined,
  regressed: ['badge-bad', 'Resolved, and raised again since'],
  resolved: ['badge-off', 'Resolved'],
  ignored: ['badge-off', 'Ignored'],
} as const satisfies Record<ExceptionGroup['status'], readonly [string, string] | undefined>

/** With who decided it, and when; nothing for a group without a decision. */
export function StatusBadge({ group: { status, status_by: by, status_at: at, status_of: of } }: Props) {
  const badge = BADGES[status]
  if (badge === undefined || by === null || at === null) return null
  return (
    <span class="group-status">
      <span class={`badge ${badge[0]}`} title={badge[1]}>
        {status}
      </span>{' '}
      <span class="muted">
        {status === 'regressed' && 'resolved '}by <bdi>{by}</bdi> <Ago at={at} />
      </span>
      {of !== undefined && (
        <span class="muted">
          {' '}
          · decided about a group of an earlier version, which may be wider; decide again to change this one alone
        </span>
      )}
    </span>
  )
}

const ACTIONS = [
  ['Resolve', 'resolved'],
  ['Ignore', 'ignored'],
  ['Reopen', 'unresolved'],
] as const

interface ActionsProps extends Props {
  readonly class: string
}

export function StatusActions({ group, class: look }: ActionsProps) {
  const { app, again } = useView()
  const { fingerprint, process, status } = group
  const [fault, setFault] = useState('')
  const isOpen = status === 'unresolved' || status === 'regressed'
  async function change(next: ChangeExceptionGroup['status']): Promise<void> {
    setFault('')
    try {
      await app.api.send('PATCH', `api/exceptions/groups/${encodeURIComponent(fingerprint)}`, { status: next, process })
      app.announce(`Group ${next}.`)
    } catch (error) {
      setFault(explain(error).detail)
    }
    again()
  }
  return (
    <div class="button-row">
      {ACTIONS.filter(([, next]) => (next === 'unresolved') !== isOpen).map(([label, next]) => (
        <button
          key={next}
          type="button"
          class={look}
          aria-label={`${label} ${lineOf(group)}`}
          onClick={() => void change(next)}
        >
          {label}
        </button>
      ))}
      {fault !== '' && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
