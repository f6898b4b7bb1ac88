// The row of filters of a page, declared: each is a parameter of its address.
import type { ProcessEntry } from '../../wire/processes.ts'
import { metaOptions, processOptions } from './ask-processes.ts'
import { SearchField } from './search-field.tsx'
import { type Option, Select } from './select.tsx'
import { useView } from './view.tsx'

export interface Filter {
  /** The parameter. */
  readonly name: string
  readonly label: string
  /** The first is the usual one, often without a value: then the address does not name it. Absent: a text. */
  readonly choices?: readonly Option<string | undefined>[]
  /** The value without the parameter in the address, if the page chose one. */
  readonly chosen?: string | undefined
  /** Parameters that end with a change of this one. */
  readonly ends?: readonly string[]
  readonly placeholder?: string
  /** The text counts once it is entered, not while it is written. */
  readonly isEntered?: boolean
  readonly maxLength?: number
}

interface Props {
  readonly filters: readonly Filter[]
  /** A choice adds no entry to the history; a text never does. */
  readonly how?: 'replace' | undefined
  /** Parameters that end with each change, such as the page of a table. */
  readonly ends?: readonly string[]
}

export const Filters = ({ filters, how, ends = [] }: Props) => (
  <div class="filters" role="group" aria-label="Filter">
    {filters.map((filter) => (
      <One key={filter.name} how={how} {...filter} ends={[...(filter.ends ?? []), ...ends]} />
    ))}
  </div>
)

function One({ name, label, choices, ends = [], how, ...filter }: Filter & Pick<Props, 'how'>) {
  const { params, change } = useView()
  const without = Object.fromEntries(ends.map((ended) => [ended, undefined]))
  if (choices === undefined)
    return (
      <SearchField
        label={label}
        placeholder={filter.placeholder ?? ''}
        isEntered={filter.isEntered}
        maxLength={filter.maxLength}
        text={params.get(name) ?? ''}
        search={(text) => change({ ...without, [name]: text || undefined }, 'replace')}
      />
    )
  const held = params.get(name) ?? filter.chosen
  const chosen = choices.find(({ value }) => value === held) ?? choices[0]
  return (
    <Select
      label={label}
      options={choices}
      chosen={chosen?.value}
      choose={(next) => change({ ...without, [name]: next }, how)}
    />
  )
}

/** The process and the meta in the address. */
export function subjectFilters(processes: readonly ProcessEntry[], params: URLSearchParams): Filter[] {
  const [process, meta] = [params.get('process') || undefined, params.get('meta') ?? undefined]
  return [
    { name: 'process', label: 'Process', ends: ['meta'], choices: processOptions(processes, process) },
    { name: 'meta', label: 'Meta', choices: metaOptions(processes, process, meta) },
  ]
}
