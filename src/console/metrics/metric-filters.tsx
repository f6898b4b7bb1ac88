// The controls of the Metrics page: process, meta, interval and statistic, and a chip per metric.
import { metaOptions, processOptions } from '../kit/ask-processes.ts'
import { type Filter, Filters } from '../kit/filters.tsx'
import { moveFocus } from '../kit/segments.tsx'
import { useView } from '../kit/view.tsx'
import { INTERVALS, type MetricsAnswer } from './ask-metrics.ts'
import { STAT_TEXT, STATS } from './metric-figures.ts'

interface Props {
  readonly answer: MetricsAnswer | undefined
}

export function MetricFilters({ answer }: Props) {
  const { params } = useView()
  const process = answer?.process ?? params.get('process') ?? undefined
  const processes = answer?.processes ?? []
  const metas = metaOptions(processes, process, params.get('meta') ?? undefined)
  const named = processOptions(processes, process, 'No process').slice(process === undefined ? 0 : 1)
  const stats = STATS.map((value, i) => ({ value: i === 0 ? undefined : value, label: STAT_TEXT[value] }))
  const filters: Filter[] = [
    { name: 'process', label: 'Process', ends: ['meta', 'name'], choices: named, chosen: process },
    { name: 'meta', label: 'Meta', choices: metas },
    { name: 'every', label: 'Interval', choices: INTERVAL_CHOICES },
    { name: 'stat', label: 'Statistic', choices: stats },
  ]
  return <Filters filters={filters} />
}

const INTERVAL_CHOICES = [
  { value: undefined, label: 'Automatic' },
  ...INTERVALS.map((value) => ({ value, label: value })),
]

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
