// The row of filters of a page, declared: each is a parameter of its address.
import type { ProcessEntry } from '../../wire/processes.ts'
import { metaOptions, processOptions } from './ask-processes.ts'
import type { Params } from './route.ts'
import { SearchField } from './search-field.tsx'
import { type Option, Select } from './select.tsx'
import { useView } from './view.tsx'

/** One that is usual has no value: the address does not name it. */
interface Choice extends Option<string | undefined> {
  /** Further parameters that it sets. */
  readonly also?: Params
}

export interface Filter {
  /** The parameter. */
  readonly name: string
  readonly label: string
  /** The first is the usual one. Absent: a text. */
  readonly choices?: readonly Choice[]
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
        {...{ label, placeholder: filter.placeholder ?? '', isEntered: filter.isEntered, maxLength: filter.maxLength }}
        text={params.get(name) ?? ''}
        search={(text) => change({ ...without, [name]: text || undefined }, 'replace')}
      />
    )
  const others = Object.fromEntries(choices.flatMap(({ also = {} }) => Object.keys(also).map((it) => [it, undefined])))
  const held = (it: string) => params.get(it) ?? (it === name ? filter.chosen : undefined)
  const isSaid = (said: Params) => Object.entries(said).every(([it, value]) => held(it) === value)
  const chosen = choices.find(({ value, also }) => isSaid({ ...others, ...also, [name]: value })) ?? choices[0]
  return (
    <Select
      label={label}
      options={choices.map((choice) => ({ value: choice, label: choice.label }))}
      chosen={chosen}
      choose={(next) => change({ ...without, ...others, ...next?.also, [name]: next?.value }, how)}
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
