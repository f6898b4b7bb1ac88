// A labelled <select> for callers' texts. Options are found by their index: a value can be any text or undefined.
import { useId } from './use-id.ts'

export interface Option<T> {
  readonly value: T
  readonly label: string
}

interface Props<T> {
  readonly label: string
  readonly options: readonly Option<T>[]
  readonly chosen: T
  choose(value: T): void
}

export function Select<T>({ label, options, chosen, choose }: Props<T>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={options.findIndex(({ value }) => value === chosen)}
        onChange={({ currentTarget }) => choose(options[currentTarget.selectedIndex]!.value)}
      >
        {options.map((option, i) => (
          <option key={i} value={i}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  )
}
