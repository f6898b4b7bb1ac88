// Before an account that a stranger may have made with the person's address is shown: what is in it, and the choice.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { Dispute, Made } from '../../wire/disputes.ts'
import type { IssuedKey } from '../../wire/keys.ts'
import type { Api } from '../kit/api.ts'
import { formatFullDay, formatShortClock, parseTime } from '../kit/format-time.ts'
import { type Column, Table } from '../kit/table.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { DoorFrame } from './door.tsx'

interface DisputePageProps {
  readonly api: Api
  setTitle(title: string): void
  /** `firstKey`: of the new account. */
  enter(firstKey?: IssuedKey): void
  fail(error: unknown): void
}

const TITLE = 'Is this account yours?'

export function DisputePage({ api, setTitle, enter, fail }: DisputePageProps) {
  const [found, setFound] = useState<Dispute>()
  const { fault, attempt } = useAttempt()
  useLayoutEffect(() => setTitle(TITLE), [])
  useEffect(() => void api.get('api/dispute').then(setFound, fail), [])
  const choose = (choice: 'keep' | 'leave') =>
    attempt(async () => {
      const { key } = await api.send('POST', 'api/dispute', { choice })
      enter(key ?? undefined)
    })
  return (
    <DoorFrame>
      <div class="door-place">
        <h1 tabIndex={-1}>{TITLE}</h1>
        <p>
          An account was made with your address before anybody had proved that the address is theirs. Until you choose,
          it answers nobody; keys that write keep working.
        </p>
        {found !== undefined && <Table caption={`Made in ${found.account.name}`} columns={COLUMNS} rows={found.made} />}
        {fault}
        <button type="button" class="button button-main" onClick={() => void choose('keep')}>
          This was me: keep all
        </button>{' '}
        <button type="button" class="button button-danger" onClick={() => void choose('leave')}>
          Not me: leave it and begin again
        </button>
        <p class="muted">Left, it stays with its other members; without any it is deleted with its data.</p>
      </div>
    </DoorFrame>
  )
}

const when = (at: string | null) =>
  at === null ? '–' : `${formatFullDay(parseTime(at))} ${formatShortClock(parseTime(at))}`

const COLUMNS: readonly Column<Made>[] = [
  { label: 'What', cell: ({ what }) => what },
  { label: 'Name', cell: ({ name }) => name },
  { label: 'Made by', cell: ({ by }) => by ?? '–' },
  { label: 'Made', class: 'minor', cell: ({ at }) => when(at) },
  {
    label: 'Last used',
    class: 'minor',
    cell: ({ last_used_at, used_from }) => (
      <>
        {when(last_used_at)}
        {used_from !== null && <span class="sub">from {used_from}</span>}
      </>
    ),
  },
  { label: 'Made from', class: 'extra', cell: ({ address }) => address ?? '–' },
]
