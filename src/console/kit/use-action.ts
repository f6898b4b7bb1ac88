// Does something to what the page shows: screen readers hear that it is done, and the page asks again.
import { useAttempt } from './use-attempt.tsx'
import { useView } from './view.tsx'

export function useAction() {
  const { app, again } = useView()
  const { attempt, fault } = useAttempt()
  const act = (work: () => Promise<unknown>, done: string) =>
    attempt(async () => {
      try {
        await work()
        app.announce(done)
      } finally {
        again() // also of a refused one: somebody else was first, or it has ended
      }
    })
  return { act, fault }
}
