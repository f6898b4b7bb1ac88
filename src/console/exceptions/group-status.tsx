// The status that people gave a group of exceptions: its badge, and the buttons that change it.
import type { ChangeExceptionGroup, ExceptionGroup } from '../../wire/exceptions.ts'
import { Menu, MenuAction } from '../kit/menu.tsx'
import { Ago } from '../kit/time.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { lineOf } from './line-of.ts'

interface Props {
  readonly group: ExceptionGroup
}

const BADGES = {
  unresolved: undefined,
  regressed: ['badge-bad', 'came back', 'Resolved, and raised again since'],
  resolved: ['badge-off', 'resolved', 'Resolved'],
  ignored: ['badge-off', 'ignored', 'Ignored'],
} as const satisfies Record<ExceptionGroup['status'], readonly [look: string, word: string, title: string] | undefined>

/** The badge of a group without a decision. */
const NewBadge = () => (
  <span class="group-status">
    <span class="badge badge-warn" title="First raised in the last 7 days, and not in the 90 days before them">
      new
    </span>
  </span>
)

/** With who decided it, and when; of a group without a decision whether it is new. */
export function StatusBadge({ group }: Props) {
  const { status, status_by: by, status_at: at, status_of: of, is_new: isNew } = group
  const badge = BADGES[status]
  if (badge === undefined || by === null || at === null) return isNew ? <NewBadge /> : null
  const [look, word, title] = badge
  return (
    <span class="group-status">
      <span class={`badge ${look}`} title={title}>
        {word}
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

/** The possible decisions about the group, each with its action; `fault` says why an action failed. */
function useStatus({ group }: Props) {
  const { app, again } = useView()
  const { attempt, fault } = useAttempt()
  const { fingerprint, process, status } = group
  const isOpen = status === 'unresolved' || status === 'regressed'
  const change = (next: ChangeExceptionGroup['status']) =>
    attempt(async () => {
      await app.api.send('PATCH', `api/exceptions/groups/${encodeURIComponent(fingerprint)}`, { status: next, process })
      app.announce(`Group ${next}.`)
    }).then(again)
  const actions = ACTIONS.filter(([, next]) => (next === 'unresolved') !== isOpen).map(([label, next]) => ({
    label,
    act: () => void change(next),
  }))
  return { actions, fault }
}

/** Buttons, of the page of a group. */
export function StatusActions({ group }: Props) {
  const { actions, fault } = useStatus({ group })
  return (
    <div class="button-row">
      {actions.map(({ label, act }) => (
        <button key={label} type="button" class="button" aria-label={`${label} ${lineOf(group)}`} onClick={act}>
          {label}
        </button>
      ))}
      {fault}
    </div>
  )
}

/** The same in the row of a table. */
export function StatusMenu({ group }: Props) {
  const { actions, fault } = useStatus({ group })
  const name = lineOf(group)
  return (
    <>
      <Menu label="More" name={`More for ${name}`}>
        {actions.map(({ label, act }) => (
          <MenuAction key={label} label={label} about={name} act={act} />
        ))}
      </Menu>
      {fault}
    </>
  )
}
