// A part that its store did not answer in time, with a button that asks again.
import { useView } from '../kit/view.tsx'

export function NotAvailable({ what }: { what: string }) {
  const { again } = useView()
  return (
    <p class="not-available">
      <span class="warn">{what}: not available.</span>{' '}
      <button type="button" class="button button-small" aria-label={`Try again: ${what}`} onClick={again}>
        Try again
      </button>
    </p>
  )
}
