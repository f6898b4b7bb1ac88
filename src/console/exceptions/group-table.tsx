// The groups as a table: what is raised and where, when, how often, and what to do about it.
import type { ExceptionGroup } from '../../wire/exceptions.ts'
import { formatCount, plural } from '../kit/format-number.ts'
import { toLine } from '../kit/line-chart.tsx'
import { changeParams, formatRoute } from '../kit/route.ts'
import { Ago } from '../kit/time.tsx'
import { bucketsOf, type TimeRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { StatusActions, StatusBadge } from './group-status.tsx'
import { headline } from './headline.ts'

interface Props {
  readonly groups: readonly ExceptionGroup[]
  readonly range: TimeRange
  readonly every: string
}

export function GroupTable(props: Props) {
  const mayChange = useView().app.may('member')
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Groups of exceptions">
      <table>
        <thead>
          <tr>
            <th scope="col">Exception</th>
            <th scope="col" class="extra">
              When
            </th>
            <th scope="col" class="number">
              Count
            </th>
            <th scope="col" class="extra">
              First seen
            </th>
            <th scope="col" class="minor">
              Last seen
            </th>
            {mayChange && (
              <th scope="col">
                <span class="hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {props.groups.map((group) => (
            <Row key={`${group.fingerprint} ${group.process}`} {...props} group={group} mayChange={mayChange} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

type RowProps = Props & { readonly group: ExceptionGroup; readonly mayChange: boolean }

function Row({ group, range, every, mayChange }: RowProps) {
  const { params } = useView()
  const { example, fingerprint, process, count, counts = [], first_at: first, last_at: last } = group
  const title = headline(example)
  const { values } = toLine('', counts, bucketsOf(range, every), (row) => row.count)
  return (
    <tr>
      <td>
        <a
          class="strong clip"
          title={title}
          href={formatRoute('exceptions', changeParams(params, { group: fingerprint, process }))}
        >
          {title}
        </a>
        <a class="sub clip" href={formatRoute('process', { process })} title={process}>
          <bdi>{process}</bdi>
        </a>
        <span class="sub on-phone">
          last <Ago at={last} />
        </span>
        <StatusBadge group={group} />
      </td>
      <td class="extra">
        <Sparkline values={values} label={`${plural(count, 'exception')} over the range`} />
      </td>
      <td class="number">{formatCount(count)}</td>
      <td class="extra">
        <Ago at={first} />
      </td>
      <td class="minor">
        <Ago at={last} />
      </td>
      {mayChange && (
        <td>
          <StatusActions group={group} class="button button-small" />
        </td>
      )}
    </tr>
  )
}

const [WIDTH, HEIGHT, TOP] = [120, 28, 3]

/** Counts over time as word-sized bars; null is a gap. `label` is for screen readers. */
function Sparkline({ values, label }: { readonly values: readonly (number | null)[]; readonly label: string }) {
  const most = Math.max(1, ...values.map((value) => value ?? 0))
  const step = WIDTH / Math.max(1, values.length)
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      {values.map((value, i) => {
        const height = ((value ?? 0) / most) * (HEIGHT - TOP)
        return value ? (
          <rect key={i} x={i * step} y={HEIGHT - height} width={Math.max(1, step - 1)} height={height} />
        ) : null
      })}
    </svg>
  )
}
