// A sentence with fields in it. Writing into a field checks its box; its error stands behind it.

import type { Condition } from '../../wire/conditions.ts'
import { useFaults } from '../kit/form.tsx'
import { FIELDS, sentenceOf, textOf, type Values, withText } from './sentences.ts'

interface Props {
  readonly values: Values
  change(changes: Partial<Values>): void
}

export function Sentence({
  condition,
  after,
  values,
  change,
}: Props & { condition: Condition; after?: string | undefined }) {
  const [label, ...parts] = sentenceOf(condition, values)
  const isOn = values.on[condition] ?? false
  const toggle = (on: boolean) => change({ on: { ...values.on, [condition]: on } })
  return (
    <div class="watch-line">
      <label>
        <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => toggle(currentTarget.checked)} /> {label}
        {after}
      </label>
      {parts.map((part, i) =>
        i % 2 === 0 ? <Inline key={part} {...{ name: part, condition, values, change }} /> : part,
      )}
    </div>
  )
}

/** A field within a sentence. */
export function Inline({ name, condition, values, change }: Props & { name: string; condition: Condition }) {
  const fault = useFaults()[name]
  const { label, placeholder, isRequired = false, size = 5, number, options } = FIELDS[name]!
  const set = (value: string) =>
    change({ on: { ...values.on, [condition]: true }, texts: withText(values, name, value) })
  const common = { class: 'inline-input', 'aria-label': label, value: textOf(values, name) }
  if (options !== undefined)
    return (
      <select {...common} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {Object.entries(options).map(([value, said]) => (
          <option key={value} value={value}>
            {said}
          </option>
        ))}
      </select>
    )
  return (
    <>
      <input
        {...common}
        {...(number === undefined ? { type: 'text' } : { type: 'number', step: 'any', ...number })}
        {...(fault !== undefined && { 'aria-invalid': 'true', 'aria-describedby': `fault-${name}` })}
        name={name}
        placeholder={placeholder}
        autocomplete="off"
        maxLength={250}
        required={isRequired && values.on[condition] === true}
        style={{ width: `${size + 2}ch` }}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      {fault !== undefined && (
        <span class="field-fault" id={`fault-${name}`}>
          {fault}
        </span>
      )}
    </>
  )
}
