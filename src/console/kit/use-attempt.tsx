// Does something, and shows beside it why it failed.
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { explainText } from './explain.ts'

interface Attempt {
  readonly fault: VNode
  attempt(work: () => Promise<unknown>): Promise<void>
}

export function useAttempt(): Attempt {
  const [said, setSaid] = useState('')
  return {
    fault: (
      <p class="field-fault" role="alert">
        {said}
      </p>
    ),
    async attempt(work) {
      setSaid('')
      try {
        await work()
      } catch (error) {
        setSaid(explainText(error))
      }
    },
  }
}
