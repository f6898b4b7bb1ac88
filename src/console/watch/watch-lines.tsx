// The conditions of a watch as a sentence with fields in it. Writing into a field chooses its condition.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useFaults } from '../kit/form.tsx'
import type { WatchValues } from './watch-values.ts'

interface Props {
  readonly values: WatchValues
  /** The watch that reports each failure already. */
  readonly reporter?: string | undefined
  change(changes: Partial<WatchValues>): void
}

export function CommonLines({ values, reporter, change }: Props) {
  const { isLate, kind, hasFailed, exceptions, after, isLong } = values
  const often = Number(after) > 1 ? ` ${after} times in a row` : ''
  return (
    <fieldset class="checks">
      <legend>Notify when it</legend>
      <Line label="does not start" isOn={isLate} toggle={(on) => change({ isLate: on })}>
        <Choice
          label="Expected"
          options={{ every: 'every', cron: 'on schedule' }}
          value={kind}
          set={(next) => change({ kind: next, isLate: true })}
        />
        {kind === 'every' ? (
          <Inline
            {...{ name: 'late/every', label: 'Interval', placeholder: '1h', required: isLate }}
            value={values.every}
            set={(every) => change({ every, isLate: true })}
          />
        ) : (
          <>
            <Inline
              {...{ name: 'late/cron', label: 'Cron expression', placeholder: '0 3 * * *', required: isLate, size: 12 }}
              value={values.cron}
              set={(cron) => change({ cron, isLate: true })}
            />
            in
            <Inline
              {...{ name: 'late/tz', label: 'Time zone', placeholder: 'UTC', size: 12 }}
              value={values.tz}
              set={(tz) => change({ tz, isLate: true })}
            />
          </>
        )}
        plus
        <Inline
          {...{ name: 'late/grace', label: 'Grace', placeholder: '5m' }}
          value={values.grace}
          set={(grace) => change({ grace, isLate: true })}
        />
        grace
      </Line>
      <Line
        label={`fails${often}${exceptions ? ' or raises an exception' : ''}${reporter ? ` (${reporter} reports that)` : ''}`}
        isOn={hasFailed}
        toggle={(on) => change({ hasFailed: on })}
      />
      <Line label="takes longer than" isOn={isLong} toggle={(on) => change({ isLong: on })}>
        <Inline
          {...{ name: 'long', label: 'Longest', placeholder: '30m', required: isLong }}
          value={values.long}
          set={(long) => change({ long, isLong: true })}
        />
      </Line>
    </fieldset>
  )
}

const FIGURES = { last: 'last value', min: 'minimum', max: 'maximum', mean: 'mean' } as const

export function FurtherLines({ values, change }: Props) {
  const { isSlow, hasMetric, hasFailed, side } = values
  const set =
    <Name extends keyof WatchValues>(name: Name) =>
    (value: WatchValues[Name]) =>
      change({ [name]: value, hasMetric: true })
  return (
    <fieldset class="checks">
      <legend class="hidden">More conditions</legend>
      <Line label="takes" isOn={isSlow} toggle={(on) => change({ isSlow: on })}>
        <Inline
          {...{ name: 'slow', label: 'Times the usual duration', required: isSlow, number: { min: 1, max: 1000 } }}
          value={values.slow}
          set={(slow) => change({ slow, isSlow: true })}
        />
        times as long as usual
      </Line>
      <Line label="has a metric" isOn={hasMetric} toggle={(on) => change({ hasMetric: on })}>
        <Inline
          {...{ name: 'metric/name', label: 'Metric', placeholder: 'rows', required: hasMetric, size: 12 }}
          value={values.metric}
          set={set('metric')}
        />
        whose
        <Choice label="Statistic" options={FIGURES} value={values.of} set={set('of')} />
        of
        <Inline
          {...{ name: 'metric/window', label: 'Window', placeholder: '10m', required: hasMetric }}
          value={values.window}
          set={set('window')}
        />
        is
        <Choice label="Side" options={{ above: 'above', below: 'below' }} value={side} set={set('side')} />
        <Inline
          {...{ name: `metric/${side}`, label: 'Threshold', required: hasMetric, number: {} }}
          value={values.threshold}
          set={set('threshold')}
        />
        for
        <Inline
          {...{ name: 'metric/for', label: 'For at least', placeholder: 'at once' }}
          value={values.lasting}
          set={set('lasting')}
        />
      </Line>
      <div class="watch-line">
        A failure counts after
        <Inline
          {...{ name: 'failed/after', label: 'Consecutive failures', required: hasFailed }}
          number={{ min: 1, max: 100, step: 1 }}
          value={values.after}
          set={(after) => change({ after, hasFailed: true })}
        />
        in a row.
        <label>
          <input
            type="checkbox"
            checked={values.exceptions}
            onChange={({ currentTarget }) => change({ exceptions: currentTarget.checked })}
          />{' '}
          Exceptions count as failures
        </label>
      </div>
    </fieldset>
  )
}

interface LineProps {
  readonly label: string
  readonly isOn: boolean
  toggle(isOn: boolean): void
  readonly children?: ComponentChildren
}

const Line = ({ label, isOn, toggle, children }: LineProps) => (
  <div class="watch-line">
    <label>
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => toggle(currentTarget.checked)} /> {label}
    </label>
    {children}
  </div>
)

interface InlineProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly required?: boolean
  /** In characters. */
  readonly size?: number
  readonly number?: { readonly min?: number; readonly max?: number; readonly step?: number }
  set(value: string): void
}

/** A field within a sentence; its error stands behind it. */
function Inline({ name, label, value, placeholder, required, size = 5, number, set }: InlineProps) {
  const fault = useFaults()[name]
  return (
    <>
      <input
        {...(number === undefined ? { type: 'text' } : { type: 'number', step: 'any', ...number })}
        {...(fault !== undefined && { 'aria-invalid': 'true', 'aria-describedby': `fault-${name}` })}
        class="inline-input"
        style={{ width: `${size + 2}ch` }}
        name={name}
        aria-label={label}
        autocomplete="off"
        maxLength={250}
        required={required}
        placeholder={placeholder}
        value={value}
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

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly options: Readonly<Record<T, string>>
  readonly value: T
  set(value: T): void
}

function Choice<T extends string>({ label, options, value, set }: ChoiceProps<T>) {
  const names = Object.keys(options) as T[]
  return (
    <select
      class="inline-input"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => set(names[currentTarget.selectedIndex]!)}
    >
      {names.map((name) => (
        <option key={name} value={name}>
          {options[name]}
        </option>
      ))}
    </select>
  )
}

interface FoldProps {
  readonly label: string
  readonly isOpen: boolean
  readonly children: ComponentChildren
}

/** Opens when a field in it is wrong. */
export function Fold({ label, isOpen, children }: FoldProps) {
  const fold = useRef<HTMLDetailsElement>(null)
  const faults = useFaults()
  useLayoutEffect(() => {
    const inputs = fold.current!.querySelectorAll<HTMLInputElement>('[name]')
    if ([...inputs].some(({ name }) => faults[name] !== undefined)) fold.current!.open = true
  }, [faults])
  return (
    <details class="fold" open={isOpen} ref={fold}>
      <summary>{label}</summary>
      {children}
    </details>
  )
}
