// Watches that are gone with their file: nobody is notified by them. The operator may dismiss the line.
import { isOperator } from '../health/rejected-events.tsx'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'

export function LostWatches({ text }: { text: string }) {
  const { app, again } = useView()
  const { attempt, fault } = useAttempt()
  const dismiss = () =>
    attempt(async () => {
      await app.api.send('DELETE', 'api/health/lost-watches')
      again()
    })
  return (
    <div class="banner banner-danger" role="alert">
      <span>{text}</span>
      {isOperator(app) && (
        <button type="button" class="button button-small" onClick={dismiss}>
          Dismiss
        </button>
      )}
      {fault}
    </div>
  )
}
