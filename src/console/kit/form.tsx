// Forms: labelled fields that the browser holds, one submission at a time, and each error beside its field.
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api.ts'
import { explain } from './explain.ts'
import { useId } from './use-id.ts'

/** Details by the names of fields. */
type Faults = Readonly<Record<string, string>>
/** The values of the enabled fields by their names; an empty text is left out. */
export type Values = Readonly<Record<string, unknown>>

const FaultsOfForm = createContext<Faults>({})

/** The details of the form around it, by the names of fields. */
export const useFaults = (): Faults => useContext(FaultsOfForm)

interface FormProps {
  readonly class?: string
  readonly submitLabel: string
  readonly isDanger?: boolean
  /** Empties its fields once it was submitted. */
  readonly isCleared?: boolean
  /** Other buttons beside the one that submits. */
  readonly buttons?: ComponentChildren
  readonly children?: ComponentChildren
  /** The form shows an error that it throws at the field concerned, or above all fields. */
  submit(values: Values): Promise<unknown>
}

export function Form({ class: more = '', submitLabel, isDanger, isCleared, buttons, children, submit }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  const [faults, setFaults] = useState<Faults>({})
  const [failure, setFailure] = useState<{ readonly title: string; readonly detail: string }>()
  const [isBusy, setBusy] = useState(false)
  useLayoutEffect(() => {
    const [first] = Object.keys(faults)
    if (first !== undefined) form.current!.querySelector<AnyInput>(`[name="${first}"]`)?.focus()
  }, [faults])
  useLayoutEffect(() => {
    if (failure === undefined) return
    form.current!.querySelector<HTMLElement>('.field :is(input, select, textarea)')?.focus()
    form.current!.querySelector('[role="alert"]')!.scrollIntoView({ block: 'center' })
  }, [failure])

  async function onSubmit(event: Event): Promise<void> {
    event.preventDefault()
    if (isBusy) return
    const inputs = inputsOf(form.current!)
    const wrong = findWrong(inputs)
    setFailure(undefined)
    setFaults(wrong)
    if (Object.keys(wrong).length > 0) return
    setBusy(true)
    try {
      await submit(readValues(inputs))
      if (isCleared) form.current?.reset()
    } catch (error) {
      const found = faultsOf(
        error,
        inputsOf(form.current!).map(({ name }) => name),
      )
      setFaults(found)
      if (Object.keys(found).length === 0) setFailure(explain(error))
    }
    setBusy(false)
  }
  return (
    <form class={`form ${more}`} noValidate ref={form} onSubmit={(event) => void onSubmit(event)}>
      <div role="alert">
        {failure !== undefined && (
          <div class="banner banner-danger">
            <p>
              <strong>{sentence(failure.title)}</strong> {failure.detail}
            </p>
          </div>
        )}
      </div>
      <FaultsOfForm.Provider value={faults}>{children}</FaultsOfForm.Provider>
      <div class="form-buttons">
        <button type="submit" class={`button ${isDanger ? 'button-danger' : 'button-main'}`} aria-disabled={isBusy}>
          {submitLabel}
        </button>
        {buttons}
      </div>
    </form>
  )
}

interface Common {
  /** The path of the member in the request body, such as `late/every`: the server's errors name it. */
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
}

interface FieldProps extends Common {
  readonly value?: string | number
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'datetime-local'
  readonly autocomplete?: 'username' | 'current-password' | 'new-password'
  readonly required?: boolean
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly step?: number
  readonly placeholder?: string
  readonly spellcheck?: boolean
}

export function Field({ name, label, hint, value = '', ...rest }: FieldProps) {
  const attributes: object = rest // the types of an input differ by its `type`
  return (
    <FieldFrame {...{ name, label, hint }}>
      {(about) => (
        <input {...about} name={name} type="text" autocomplete="off" defaultValue={String(value)} {...attributes} />
      )}
    </FieldFrame>
  )
}

interface SelectProps extends Common {
  readonly options: Readonly<Record<string, string>>
  /** The chosen one: at first, or while `choose` is given. */
  readonly value: string
  choose?(value: string): void
}

export const SelectField = ({ name, label, hint, options, value, choose }: SelectProps) => (
  <FieldFrame {...{ name, label, hint }}>
    {(about) => (
      <select {...about} name={name} onChange={({ currentTarget }) => choose?.(currentTarget.value)}>
        {Object.entries(options).map(([option, text]) => (
          <option key={option} value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </FieldFrame>
)

/** Several lines. */
export const AreaField = ({ name, label, hint, value }: Common & { readonly value: string }) => (
  <FieldFrame {...{ name, label, hint }}>
    {(about) => <textarea {...about} name={name} rows={3} spellcheck={false} defaultValue={value} />}
  </FieldFrame>
)

interface About {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid': 'true' | undefined
}

interface FrameProps extends Common {
  children(about: About): ComponentChildren
}

/** The label, the hint and the error of an input. */
export function FieldFrame({ name, label, hint, children }: FrameProps) {
  const id = useId()
  const fault = useFaults()[name]
  const described = hint === undefined ? `${id}-fault` : `${id}-hint ${id}-fault`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': fault === undefined ? undefined : 'true' })}
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p class="field-fault" id={`${id}-fault`}>
        {fault}
      </p>
    </div>
  )
}

type AnyInput = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const inputsOf = (form: HTMLFormElement): AnyInput[] =>
  [...form.querySelectorAll<AnyInput>('input, select, textarea')].filter(
    (input) => input.name !== '' && !input.matches(':disabled'),
  )

/** Outer spaces belong to names of processes and metrics, and to passwords. */
const isExact = ({ name, type }: AnyInput): boolean => /^(?:process|metric\/name)$/.test(name) || type === 'password'

/** By their names, such as `late/every`. */
function readValues(inputs: readonly AnyInput[]): Values {
  const values: Record<string, unknown> = {}
  for (const input of inputs) {
    const text = isExact(input) ? input.value : input.value.trim()
    if (text === '') continue
    const value =
      input.type === 'checkbox' ? (input as HTMLInputElement).checked : input.type === 'number' ? Number(text) : text
    const [name = '', member] = input.name.split('/')
    values[name] = member === undefined ? value : { ...(values[name] as object), [member]: value }
  }
  return values
}

/** Errors that the browser can find; the server reports all others. */
function findWrong(inputs: readonly AnyInput[]): Faults {
  const found = inputs.map((input) => [input.name, describeValidity(input)] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function describeValidity(input: AnyInput): string | undefined {
  const { validity } = input
  const { min, max } = input instanceof HTMLInputElement ? input : { min: '', max: '' }
  if (validity.badInput) return 'Must be a number.'
  if (validity.valueMissing) return 'Required.'
  if (validity.rangeUnderflow || validity.rangeOverflow) return `Must be from ${min} to ${max}.`
  return validity.stepMismatch ? 'Must be a whole number.' : undefined
}

/** The server names members of the body: one in a field, or one that holds several fields. */
function faultsOf(error: unknown, names: readonly string[]): Faults {
  const errors = error instanceof ApiError ? error.errors.filter(({ pointer }) => pointer !== '') : []
  const isNamed = (pointer: string) => names.includes(pointer.slice(1))
  const found = names.flatMap((name) => {
    const fault = errors.find(
      ({ pointer }) => `/${name}/`.startsWith(`${pointer}/`) || (pointer.startsWith(`/${name}/`) && !isNamed(pointer)),
    )
    return fault === undefined ? [] : [[name, sentence(fault.detail)] as const]
  })
  return Object.fromEntries(found)
}

/** `is too long; choose another` → `This is too long. Choose another.` */
function sentence(detail: string): string {
  const text = detail.replace(/^is /, 'this is ').replace(/; (\w)/g, (_, first: string) => `. ${first.toUpperCase()}`)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/\.?$/, '.')
}
