// The state of a run with its mark, in the words of who shows it.
import { isTrouble, type Run } from './run.ts'

export const RunState = ({ run, text }: { run: Run; text: string }) => (
  <span class={`state state-${isTrouble(run) ? 'failed' : run.state}`}>
    <i class={`mark mark-${run.state}`} />
    {text}
  </span>
)
