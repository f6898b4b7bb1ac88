// Two runs side by side: times, metrics and exit in a table, then the lines of output that differ.
import { EMPTY_TEXT } from '../exceptions/line-of.ts'
import { plural } from '../kit/format-number.ts'
import { formatMoment, parseTime } from '../kit/format-time.ts'
import { Preformatted } from '../kit/preformatted.tsx'
import { Table } from '../kit/table.tsx'
import { useView } from '../kit/view.tsx'
import { type Compared, type CompareRow, compareRuns, linkOf } from './compare-runs.ts'
import { type DiffLine, diffLines, lastLines } from './diff-lines.ts'
import { NotAvailable } from './not-available.tsx'

interface Props {
  readonly compared: Compared
  /** A name for the other run. */
  readonly otherIs?: string
}

export function Comparison({ compared, otherIs = 'last good run' }: Props) {
  const { nowMs } = useView()
  const { run, good_run: other, unavailable } = compared
  const isKnown = other !== null
  return (
    <div class="compare">
      <Table<CompareRow>
        caption={`This run beside the ${otherIs}`}
        rows={compareRuns(compared, nowMs)}
        columns={[
          { label: '', head: <span class="hidden">What</span>, isHead: true, cell: ({ what }) => <bdi>{what}</bdi> },
          {
            label: 'This run',
            head: <a href={linkOf(run, nowMs)}>This run</a>,
            cell: ({ run: text, ratio }) => (
              <>
                {text}
                {ratio !== '' && <span class="sub">{ratio}</span>}
              </>
            ),
          },
          isKnown && {
            label: otherIs,
            head: <OtherHead run={other} otherIs={otherIs} />,
            cell: ({ other: text }) => text,
          },
        ]}
      />
      {!isKnown &&
        (unavailable.includes('good_run') ? (
          <NotAvailable what="The last good run" />
        ) : (
          <p class="muted">No run of this meta has completed yet.</p>
        ))}
      {unavailable.includes('metrics') && <NotAvailable what="Metrics" />}
      <Output {...{ compared, otherIs }} />
    </div>
  )
}

function OtherHead({ run, otherIs }: { run: NonNullable<Compared['good_run']>; otherIs: string }) {
  const { nowMs } = useView()
  const at = run.started_at ?? run.ended_at ?? ''
  const name = `${otherIs.charAt(0).toUpperCase()}${otherIs.slice(1)}`
  return (
    <>
      {name}{' '}
      <a href={linkOf(run, nowMs)} title={at}>
        {formatMoment(parseTime(at), nowMs)}
      </a>
    </>
  )
}

const OUTPUT_PARTS = ['output', 'good_output'] as const

function Output({ compared, otherIs }: Required<Props>) {
  const { output, good_output: other, good_run: otherRun, unavailable } = compared
  if (OUTPUT_PARTS.some((part) => unavailable.includes(part)))
    return (
      <section class="panel-part">
        <h3>Output</h3>
        <NotAvailable what="The output" />
      </section>
    )
  if (output === null && other === null) return null
  const lines = otherRun === null || other === null ? undefined : diffLines(output ?? '', other)
  const isSame = lines?.every(({ kind }) => kind === 'folded' || kind === 'both')
  return (
    <section class="panel-part">
      <h3>Output</h3>
      {output === null && <p class="muted">This run sent no output.</p>}
      {lines === undefined ? (
        <>
          {otherRun !== null && <p class="muted">The {otherIs} sent no output.</p>}
          <Preformatted class="diff" label="Output of this run">
            {lastLines(output ?? '').join('\n') || EMPTY_TEXT}
          </Preformatted>
        </>
      ) : isSame ? (
        <p class="muted">The same lines as in the {otherIs}, but for numbers.</p>
      ) : (
        <>
          <p class="muted">
            <span class="diff-run">+</span> only in this run, <span class="diff-other">−</span> only in the {otherIs}.
            Numbers are not compared.
          </p>
          <Preformatted class="diff" label={`Output of this run and of the ${otherIs}`}>
            {lines.map((line, i) => (
              <Line key={i} line={line} />
            ))}
          </Preformatted>
        </>
      )}
    </section>
  )
}

function Line({ line }: { line: DiffLine }) {
  switch (line.kind) {
    case 'folded':
      return <span class="diff-folded">{`… ${plural(line.lines, 'equal line')}\n`}</span>
    case 'run':
      return <ins class="diff-run">{`+ ${line.text}\n`}</ins>
    case 'other':
      return <del class="diff-other">{`− ${line.text}\n`}</del>
    case 'both':
      return <span>{`  ${line.text}\n`}</span>
    default:
      return line satisfies never
  }
}
