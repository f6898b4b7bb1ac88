// The controls of the Metrics page: process, meta, interval and statistic, and a chip per metric.
import { metaOptions, processOptions } from '../kit/ask-processes.ts'
import { moveFocus } from '../kit/segments.tsx'
import { Select } from '../kit/select.tsx'
import { useView } from '../kit/view.tsx'
import { everyIn, INTERVALS, METAS_MAX, type MetricsAnswer } from './ask-metrics.ts'
import { STAT_TEXT, STATS, type Stat } from './metric-figures.ts'

interface Props {
  readonly answer: MetricsAnswer | undefined
  readonly stat: Stat
}

/** Never a real meta: control characters are stripped from those. */
const COMPARE = '\u0000compare'

export function MetricFilters({ answer, stat }: Props) {
  const { params, change } = useView()
  const process = answer?.process ?? params.get('process') ?? undefined
  const processes = answer?.processes ?? []
  const meta = params.get('meta') ?? undefined
  const [any, ...metas] = metaOptions(processes, process, meta)
  const label = metas.length > METAS_MAX ? `Compare the first ${METAS_MAX}` : 'Compare all'
  const compare = metas.length > 1 ? [{ value: COMPARE, label }] : []
  return (
    <div class="filters" role="group" aria-label="Filter">
      <Select
        label="Process"
        options={processOptions(processes, process, 'No process').slice(process === undefined ? 0 : 1)}
        chosen={process}
        choose={(value) => change({ process: value, meta: undefined, name: undefined, by: undefined })}
      />
      <Select
        label="Meta"
        options={[any!, ...compare, ...metas]}
        chosen={params.get('by') === 'meta' ? COMPARE : meta}
        choose={(value) => change(value === COMPARE ? { by: 'meta', meta: undefined } : { by: undefined, meta: value })}
      />
      <Select
        label="Interval"
        options={[{ value: undefined, label: 'Automatic' }, ...INTERVALS.map((value) => ({ value, label: value }))]}
        chosen={everyIn(params)}
        choose={(every) => change({ every })}
      />
      <Select
        label="Statistic"
        options={STATS.map((value) => ({ value, label: STAT_TEXT[value] }))}
        chosen={stat}
        choose={(value) => change({ stat: value === 'mean' ? undefined : value })}
      />
    </div>
  )
}

interface NamesProps {
  readonly names: readonly string[]
  readonly shown: readonly string[]
  show(names: readonly string[]): void
}

export const MetricNames = ({ names, shown, show }: NamesProps) => (
  <div class="chips" role="group" aria-label="Names" onKeyDown={moveFocus}>
    {names.map((name, i) => (
      <button
        key={name}
        type="button"
        class="chip"
        tabIndex={i === 0 ? 0 : -1}
        aria-pressed={shown.includes(name)}
        onClick={() => show(shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name])}
      >
        <bdi>{name}</bdi>
      </button>
    ))}
  </div>
)
