// Notifications that are held back now, and until when.
import type { Maintenance } from '../../wire/maintenance.ts'
import { parseTime } from '../kit/format-time.ts'
import { formatRoute } from '../kit/route.ts'
import { useView } from '../kit/view.tsx'
import { shortMoment } from '../kit/words.ts'

export function MaintenanceLine({ active }: { active: readonly Maintenance[] }) {
  const { nowMs } = useView()
  if (active.length === 0) return null
  const names = active.map(({ process, until }) => {
    const name = process === '*' ? 'every process' : process
    return until === null ? name : `${name} until ${shortMoment(parseTime(until), nowMs)}`
  })
  return (
    <p class="banner banner-warn" role="status">
      <span>
        <a href={formatRoute('maintenance')}>Maintenance</a>: notifications are held back for {names.join(', ')}.
      </span>
    </p>
  )
}
