// One run beside the timeline: how it ended and what it raised first, then its marks and metrics.

import { useEffect, useRef } from 'preact/hooks'
import type { ExceptionText } from '../../wire/exceptions.ts'
import type { MetricPoint } from '../../wire/metrics.ts'
import type { OutputText } from '../../wire/outputs.ts'
import { Comparison } from '../compare/comparison.tsx'
import { EMPTY_TEXT } from '../exceptions/line-of.ts'
import { formatDuration, formatValue } from '../kit/format-number.ts'
import { parseTime } from '../kit/format-time.ts'
import { Icon } from '../kit/icon.tsx'
import { Preformatted } from '../kit/preformatted.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { Clock, Moment } from '../kit/time.tsx'
import { fixRange, monthsAround } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { describeState, lengthMs, parseRunId, type Run } from '../timeline/run.ts'
import { RunState } from '../timeline/run-state.tsx'
import { describeRatio } from '../timeline/usual.ts'
import type { RunContext } from './ask-run.ts'
import { compareContexts } from './compare-contexts.ts'

interface Props {
  readonly id: string
  /** undefined: it is being loaded; null: there is no such run. */
  readonly context: RunContext | null | undefined
  /** The run that it is compared with. */
  readonly beside?: Pick<Props, 'id' | 'context'> | undefined
  close(): void
}

/** It takes the focus, and gives it back. */
export function RunPanel({ id, context, beside, close }: Props) {
  const title = useRef<HTMLHeadingElement>(null)
  const opener = useRef(document.activeElement)
  useEffect(() => title.current?.focus(), [id, beside?.id])
  useEffect(
    () => () => {
      const { current } = opener
      const label = current?.ariaLabel
      const redrawn = [...document.querySelectorAll('main [aria-label]')].find((it) => it.ariaLabel === label)
      const next = current?.isConnected ? current : (redrawn ?? document.querySelector('h1'))
      ;(next as HTMLElement | SVGElement | null)?.focus()
    },
    [],
  )
  const process = context?.run.process ?? parseRunId(id)?.process
  return (
    <aside class="panel card" aria-label="Chosen run" onKeyDown={({ key }) => key === 'Escape' && close()}>
      <header class="panel-header">
        <h2 ref={title} tabIndex={-1}>
          {process === undefined ? (
            'Run'
          ) : (
            <a class="quiet-link" href={formatRoute('process', { process })}>
              <bdi>{process}</bdi>
            </a>
          )}
        </h2>
        <button type="button" class="button button-icon-only" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {context === undefined && (
        <p class="muted" aria-busy="true">
          Loading…
        </p>
      )}
      {context === null && <NotFound id={id} />}
      {context && beside === undefined && <Parts context={context} />}
      {context && beside !== undefined && <Beside context={context} beside={beside} />}
    </aside>
  )
}

/** Both runs in one table. */
function Beside({ context, beside }: { context: RunContext; beside: NonNullable<Props['beside']> }) {
  const { params } = useView()
  const otherIs = beside.id === context.good?.id ? 'last good run' : 'other run'
  return (
    <>
      <State run={context.run} />
      {beside.context === undefined && (
        <p class="muted" aria-busy="true">
          Loading…
        </p>
      )}
      {beside.context === null && <p class="muted">The other run is not found.</p>}
      {beside.context && <Comparison compared={compareContexts(context, beside.context)} otherIs={otherIs} />}
      <a class="button button-small" href={formatRoute('runs', changeParams(params, { beside: undefined }))}>
        This run alone
      </a>
    </>
  )
}

const State = ({ run }: { run: Run }) => (
  <p>
    <RunState run={run} text={describeState(run)} />
  </p>
)

const NotFound = ({ id }: { id: string }) => (
  <div class="empty">
    <p class="empty-title">Run not found</p>
    <p class="muted">
      {parseRunId(id) === undefined
        ? 'This link is incomplete.'
        : 'No run began at that time, or its events are older than the retention period.'}
    </p>
  </div>
)

function Parts({ context }: { context: RunContext }) {
  const { params } = useView()
  const { run, good, metrics, exceptions, outputs, overlaps } = context
  const isShared = overlaps && run.uid === null
  return (
    <>
      <State run={run} />
      <Compared context={context} />
      {good !== undefined && (
        <a class="button button-small" href={formatRoute('runs', changeParams(params, { beside: good.id }))}>
          Beside the last good one
        </a>
      )}
      <section class="panel-part">
        <h3>Exceptions</h3>
        {overlaps && exceptions.some(({ uid }) => uid === undefined) && <Shared />}
        {exceptions.length === 0 ? <p class="muted">No exceptions in this run.</p> : <Exceptions {...{ exceptions }} />}
      </section>
      {outputs.length > 0 && (
        <section class="panel-part">
          <h3>Output</h3>
          {overlaps && outputs.some(({ uid }) => uid === undefined) && <Shared />}
          <Outputs outputs={outputs} />
        </section>
      )}
      <section class="panel-part">
        <h3>Run</h3>
        <Facts run={run} />
      </section>
      <section class="panel-part">
        <h3>Metrics</h3>
        {isShared && metrics.length > 0 && <Shared />}
        {metrics.length === 0 ? <p class="muted">No metrics in this run.</p> : <Metrics metrics={metrics} />}
      </section>
      <MoreLinks run={run} />
    </>
  )
}

const Shared = () => (
  <p class="muted">Other runs were open at the same time: events without a uid may belong to one of them.</p>
)

/** With the runs before it; nothing if there are too few. */
function Compared({ context: { run, usualMs, previous } }: { context: RunContext }) {
  const { nowMs } = useView()
  const ms = lengthMs(run, nowMs)
  const before = previous?.timing.duration_ms ?? null
  if (ms === null || (usualMs === undefined && before === null)) return null
  // How fast a run failed says nothing.
  if (run.state === 'failed' || (run.state === 'running' && (usualMs === undefined || ms <= usualMs)))
    return usualMs === undefined ? null : <p class="verdict">Usually takes {formatDuration(usualMs)}.</p>
  const ratio = usualMs === undefined ? undefined : describeRatio(ms, usualMs, 'About as long as usual')
  return (
    <p class="verdict">
      {ratio !== undefined && <strong>{ratio.startsWith('About') ? ratio : `${ratio} than usual`}</strong>}
      {ratio !== undefined && ` (median of the runs before it: ${formatDuration(usualMs!)}). `}
      {before !== null && `The previous run took ${formatDuration(before)}${describeDifference(ms - before)}.`}
    </p>
  )
}

const describeDifference = (ms: number): string =>
  ms === 0 ? '' : `, ${formatDuration(Math.abs(ms))} ${ms > 0 ? 'less' : 'more'}`

function Facts({ run }: { run: Run }) {
  const { nowMs } = useView()
  const { meta, uid, state, timing } = run
  const { started_at: started, ended_at: ended } = timing
  return (
    <dl class="facts">
      {meta !== null && (
        <div>
          <dt>Meta</dt>
          <dd>
            <bdi>{meta}</bdi>
          </dd>
        </div>
      )}
      {uid !== null && (
        <div>
          <dt>Uid</dt>
          <dd>
            <code>{uid}</code>
          </dd>
        </div>
      )}
      <div>
        <dt>Started</dt>
        <dd>{started === null ? 'no start' : <Moment at={started} />}</dd>
      </div>
      <div>
        <dt>Ended</dt>
        <dd>{ended === null ? state === 'running' ? 'not yet' : 'no end' : <Moment at={ended} />}</dd>
      </div>
      <div>
        <dt>{state === 'running' ? 'So far' : 'Duration'}</dt>
        <dd>{formatDuration(lengthMs(run, nowMs))}</dd>
      </div>
    </dl>
  )
}

const Metrics = ({ metrics }: { metrics: readonly MetricPoint[] }) => (
  <ul class="rows">
    {metrics.map(({ at, name, value }) => (
      <li key={`${at} ${name}`}>
        <Clock at={at} />
        <span class="grow">{name}</span>
        <strong title={String(value)}>{formatValue(value)}</strong>
      </li>
    ))}
  </ul>
)

function Exceptions({ exceptions }: { exceptions: readonly ExceptionText[] }) {
  const { nowMs } = useView()
  return (
    <ul class="texts">
      {exceptions.map(({ at, exception, headline, fingerprint, process }) => (
        <li key={`${at} ${fingerprint}`}>
          <p class="texts-head">
            <Clock at={at} />
            <a href={formatRoute('exceptions', { group: fingerprint, process, ...monthsAround(parseTime(at), nowMs) })}>
              All like this
            </a>
          </p>
          {!exception.startsWith(headline) && <p class="bad">{headline}</p>}
          <Preformatted label="Exception">{exception || EMPTY_TEXT}</Preformatted>
        </li>
      ))}
    </ul>
  )
}

const Outputs = ({ outputs }: { outputs: readonly OutputText[] }) => (
  <ul class="texts">
    {outputs.map(({ at, output }) => (
      <li key={at}>
        <p class="texts-head">
          <Clock at={at} />
        </p>
        <Preformatted label="Output">{output}</Preformatted>
      </li>
    ))}
  </ul>
)

function MoreLinks({ run: { process, meta, startMs, endMs } }: { run: Run }) {
  const { nowMs } = useView()
  const end = Math.min(endMs, nowMs)
  const marginMs = Math.max(60_000, (end - startMs) * 2)
  const around = fixRange(startMs - marginMs, Math.min(end + marginMs, nowMs))
  return (
    <div class="button-row">
      <a class="button button-small" href={formatRoute('runs', { process, meta: meta ?? '', ...around })}>
        Zoom to this run
      </a>
      <a class="button button-small" href={formatRoute('metrics', { process, ...around })}>
        Metrics at that time
      </a>
    </div>
  )
}
