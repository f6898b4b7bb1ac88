// The Runs page without a run: the reason, and the ways on.
import { useState } from 'preact/hooks'
import type { ProcessEntry } from '../../wire/processes.ts'
import { findUid } from '../kit/find-uid.ts'
import { Icon } from '../kit/icon.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { useAttempt } from '../kit/use-attempt.tsx'
import { useView } from '../kit/view.tsx'
import { readRunView } from './read-run-query.ts'

export function NoRuns({ processes }: { processes: readonly ProcessEntry[] }) {
  const { params, nowMs } = useView()
  const { query, range } = readRunView(params, nowMs)
  const { process } = query
  const entry = processes.find((it) => it.process === process)
  const text =
    process === undefined || (entry?.kinds.includes('mark') ?? false)
      ? range.isLive
        ? 'New runs appear here within seconds.'
        : 'Nothing ran in this range.'
      : entry === undefined
        ? 'No event of a process with this name has arrived in 30 days. Check the spelling.'
        : `It sends ${entry.kinds.map((kind) => `${kind}s`).join(' and ')}, but no runs.`
  return (
    <div class="empty">
      <Icon name="empty" />
      <p class="empty-title">No runs here</p>
      <p class="muted">{text}</p>
      <div class="button-row">
        {query.uid !== undefined && <FurtherBack uid={query.uid} />}
        <a class="button" href={formatRoute('runs', changeParams(params, { from: '-7d', to: undefined }))}>
          Show 7 days
        </a>
        <a class="button" href={formatRoute('welcome')}>
          How to send one
        </a>
      </div>
    </div>
  )
}

/** A uid is looked for in the range; this looks as far back as a question may read, and opens the run. */
function FurtherBack({ uid }: { uid: string }) {
  const { app } = useView()
  const { attempt, fault } = useAttempt()
  const [said, setSaid] = useState('')
  const look = () =>
    attempt(async () => {
      setSaid('Looking for the run…')
      const { href, text } = await findUid(app.api.get, uid, app.nowMs()).finally(() => setSaid(''))
      setSaid(text)
      if (href !== undefined) location.hash = href
    })
  return (
    <>
      <button type="button" class="button button-main" onClick={() => void look()}>
        Look for this uid further back
      </button>
      <span class="muted" role="status">
        {said}
      </span>
      {fault}
    </>
  )
}
