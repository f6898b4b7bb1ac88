// Forms: labelled fields, one submission at a time, and each error beside its field.
import { ApiError } from './api.ts'
import { type Attributes, type Child, fill, h } from './dom.ts'
import { explain } from './region.ts'
import type { Option } from './select.tsx'

type AnyInput = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

export interface Field<Input extends AnyInput = HTMLInputElement> {
  readonly element: HTMLElement
  readonly input: Input
  /** undefined: the field is valid. */
  fault(detail: string | undefined): void
}

let fields = 0

export type AnyField = Field<AnyInput>

/** `name` is the path of the member in the request body, such as `late/every`: the server's errors name it. */
export function createField(name: string, label: string, attributes: Attributes = {}, hint?: string): Field {
  return toField(h('input', { name, type: 'text', autocomplete: 'off', ...attributes }), label, hint)
}

export function createSelectField(
  name: string,
  label: string,
  labels: Readonly<Record<string, string>>,
  chosen: string,
  hint?: string,
): Field<HTMLSelectElement> {
  const items = Object.entries(labels).map(([value, text]) => h('option', { value, selected: value === chosen }, text))
  return toField(h('select', { name }, ...items), label, hint)
}

/** Several lines. */
export const createAreaField = (
  name: string,
  label: string,
  value: string,
  hint?: string,
): Field<HTMLTextAreaElement> => toField(h('textarea', { name, rows: 3, spellcheck: 'false' }, value), label, hint)

function toField<Input extends AnyInput>(input: Input, label: string, hint: string | undefined): Field<Input> {
  const id = `field-${++fields}`
  input.id = id
  const fault = h('p.field-fault', { id: `${id}-fault` })
  const hintElement = hint === undefined ? undefined : h('p.field-hint', { id: `${id}-hint` }, hint)
  input.setAttribute('aria-describedby', [hintElement && `${id}-hint`, `${id}-fault`].filter(Boolean).join(' '))
  return {
    input,
    element: h('div.field', h('label', { for: id }, label), input, hintElement, fault),
    fault(detail) {
      fault.textContent = detail ?? ''
      if (detail === undefined) input.removeAttribute('aria-invalid')
      else input.setAttribute('aria-invalid', 'true')
    },
  }
}

interface FormOptions {
  readonly fields: readonly AnyField[]
  /** Lays out the fields; by default one after another. */
  readonly content?: readonly Child[] | undefined
  /** Elements between the fields and the button. */
  readonly more?: readonly Child[]
  readonly submitLabel: string
  readonly danger?: boolean
  /** Throws ApiError. */
  submit(): Promise<void>
}

/** Shows errors at their fields, or above all fields, and focuses the first invalid field. */
export function createForm({ fields, content, more = [], submitLabel, danger, submit }: FormOptions): HTMLFormElement {
  const failure = h('div', { role: 'alert' })
  const button = h(
    'button',
    { type: 'submit', class: danger ? 'button button-danger' : 'button button-main' },
    submitLabel,
  )

  async function onSubmit(): Promise<void> {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    fill(failure)
    for (const field of fields) field.fault(undefined)
    const wrong = fields.filter((field) => {
      const detail = describeValidity(field.input)
      field.fault(detail)
      return detail !== undefined
    })
    if (wrong.length > 0) {
      button.removeAttribute('aria-disabled')
      wrong[0]!.input.focus()
      return
    }
    try {
      await submit()
    } catch (error) {
      showFailure(error)
    } finally {
      button.removeAttribute('aria-disabled')
    }
  }

  function showFailure(error: unknown): void {
    const faults = error instanceof ApiError ? error.errors : []
    const isNamed = (pointer: string) => fields.some(({ input }) => pointer === `/${input.name}`)
    const wrong = fields.filter((field) => {
      const { name } = field.input
      const fault = faults.find(
        ({ pointer }) =>
          pointer !== '' &&
          (`/${name}/`.startsWith(`${pointer}/`) || (pointer.startsWith(`/${name}/`) && !isNamed(pointer))),
      )
      if (fault !== undefined) field.fault(sentence(fault.detail))
      return fault !== undefined
    })
    const { title, detail } = explain(error)
    if (wrong.length === 0) {
      fill(failure, h('div.banner.banner-danger', h('p', h('strong', sentence(title)), ` ${detail}`)))
    }
    ;(wrong[0] ?? fields[0])?.input.focus()
    if (wrong.length === 0) failure.scrollIntoView({ block: 'center' })
  }

  return h(
    'form.form',
    {
      novalidate: true,
      onsubmit: (event: Event) => {
        event.preventDefault()
        void onSubmit()
      },
    },
    failure,
    ...(content ?? fields.map(({ element }) => element)),
    ...more,
    h('div.form-buttons', button),
  )
}

/** Shows and enables the fields, or hides and disables them. */
export function offerFields(isOffered: boolean, ...fields: readonly AnyField[]): void {
  for (const { element, input } of fields) {
    element.hidden = !isOffered
    input.disabled = !isOffered
  }
}

/** Names of processes and metrics: their outer spaces belong to them. */
const IS_EXACT = /^(?:process|metric\/name)$/

/** The enabled inputs as a request body by their names, such as `late/every`; an empty text is left out. */
export function readInputs(inputs: readonly AnyInput[]): Record<string, unknown> {
  const body: Record<string, Record<string, unknown> | unknown> = {}
  for (const input of inputs.filter((one) => one.name !== '' && !one.matches(':disabled'))) {
    const text = IS_EXACT.test(input.name) ? input.value : input.value.trim()
    const value =
      input.type === 'checkbox' ? (input as HTMLInputElement).checked : input.type === 'number' ? Number(text) : text
    const [name = '', member] = input.name.split('/')
    if (value === '') continue
    body[name] = member === undefined ? value : { ...(body[name] as object), [member]: value }
  }
  return body
}

/** Errors that the browser can find; the server reports all others. */
function describeValidity(input: AnyInput): string | undefined {
  const { validity } = input
  const { min, max } = input instanceof HTMLInputElement ? input : { min: '', max: '' }
  if (validity.badInput) return 'Must be a number.'
  if (validity.valueMissing) return 'Required.'
  if (validity.rangeUnderflow || validity.rangeOverflow) return `Must be from ${min} to ${max}.`
  return validity.stepMismatch ? 'Must be a whole number.' : undefined
}

/** `is too long; choose another` → `This is too long. Choose another.` */
function sentence(detail: string): string {
  const text = detail.replace(/^is /, 'this is ').replace(/; (\w)/g, (_, first: string) => `. ${first.toUpperCase()}`)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** A filter below its label. */
export function labelled(label: string, input: AnyInput): HTMLElement {
  input.id = `field-${++fields}`
  return h('div.field', h('label', { for: input.id }, label), input)
}

// A labelled <select> for callers' texts. Options are identified by their index, so that a value can be any text or
// undefined.
interface Choice<T> {
  readonly element: HTMLElement
  /** Replaces the options only if they differ: an open list stays open. */
  show(options: readonly Option<T>[], chosen: T): void
}

export function createChoice<T>(label: string, choose: (value: T) => void): Choice<T> {
  let shown: readonly Option<T>[] = []
  const select = h('select', {
    onchange: () => {
      const option = shown[select.selectedIndex]
      if (option !== undefined) choose(option.value)
    },
  })
  return {
    element: labelled(label, select),
    show(options, chosen) {
      const isSame = options.length === shown.length && options.every((option, i) => option.label === shown[i]?.label)
      if (!isSame) select.replaceChildren(...options.map((option) => h('option', option.label)))
      shown = options
      select.selectedIndex = options.findIndex(({ value }) => value === chosen)
    },
  }
}
