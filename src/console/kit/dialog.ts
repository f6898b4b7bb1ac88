// Modal dialogs: they confirm irreversible actions, and show secrets until they are closed on purpose.
import { copyButton } from './copy-button.ts'
import { button, type Child, h } from './dom.ts'
import { type AnyField, createForm } from './form.ts'
import type { App } from './page.ts'

let dialogs = 0

interface DialogOptions {
  /** Escape shows this warning instead of closing the dialog: its content is shown only once. */
  readonly keep?: string
  readonly class?: string
  /** The label of the button of `revealOnce`. */
  readonly close?: string
}

/** Opens a dialog. The browser moves the focus into it, and back when it closes. */
export function openDialog(title: string, content: readonly Child[], options: DialogOptions = {}) {
  const id = `dialog-${++dialogs}`
  const dialog = h(
    'dialog',
    {
      class: `dialog ${options.class ?? ''}`.trim(),
      'aria-labelledby': id,
      closedby: options.keep === undefined ? 'closerequest' : 'none',
    },
    h('h2', { id }, title),
    ...content,
  )
  const warning = h('p.banner.banner-warn', { role: 'alert' })
  dialog.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || options.keep === undefined) return
    event.preventDefault()
    warning.textContent = options.keep
    dialog.append(warning)
  })
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (document.activeElement === document.body) document.querySelector('h1')?.focus() // its opener is gone
  })
  document.body.append(dialog)
  dialog.showModal()
  return { close: () => dialog.close() }
}

/** Shows what is not shown again, with a button that closes the dialog. */
export function revealOnce(title: string, content: readonly Child[], options: DialogOptions = {}): void {
  const label = options.close ?? 'I’ve saved it'
  const close = button(label, () => dialog.close(), { class: 'button button-main' })
  const dialog = openDialog(title, [...content, h('div.form-buttons', close)], options)
}

/** A secret to copy; `name` says what it is. */
export const secretBox = (name: string, secret: string, copyLabel: string, ...more: readonly Child[]): HTMLElement =>
  h(
    'div.secret',
    h('code.secret-text', { role: 'group', tabindex: 0, 'aria-label': name }, secret),
    copyButton(copyLabel, () => secret),
    ...more,
  )

/** Resolve `submit` to this to keep the dialog open with its error. */
export const KEEP_OPEN = Symbol('the dialog stays')

export interface Confirmation {
  readonly title: string
  /** The consequences; a string is a paragraph. */
  readonly text?: readonly Child[]
  readonly fields?: readonly AnyField[]
  /** Lays out the fields; by default one after another. */
  readonly content?: readonly Child[]
  readonly submitLabel: string
  readonly danger?: boolean
  /** When it resolves, the dialog closes and the returned function is called. What it throws is shown. */
  submit(): Promise<(() => void) | typeof KEEP_OPEN>
}

export interface Question extends Omit<Confirmation, 'submit'> {
  readonly send: readonly [method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: () => object]
  /** Announced afterwards. */
  readonly done: string
}

/** Makes a function that asks for confirmation, sends one request and then loads the page's data again. */
export const createAsk =
  ({ api, announce }: Pick<App, 'api' | 'announce'>, reload: () => void) =>
  ({ send: [method, path, body], done, ...rest }: Question): void =>
    confirmAction({
      ...rest,
      async submit() {
        await api.send(method, path, body?.())
        return () => {
          reload()
          announce(done)
        }
      },
    })

/** Asks for confirmation before an action. */
export function confirmAction(confirmation: Confirmation): void {
  const { title, text = [], fields = [], content, submitLabel, danger = false, submit } = confirmation
  const cancel = button('Cancel', () => dialog.close())
  const form = createForm({
    fields,
    content,
    submitLabel,
    danger,
    async submit() {
      const afterwards = await submit()
      if (afterwards === KEEP_OPEN) return
      dialog.close()
      afterwards()
    },
  })
  form.querySelector('.form-buttons')?.append(cancel)
  const dialog = openDialog(title, [
    text.length > 0 && h('div.dialog-text', ...text.map((part) => (typeof part === 'string' ? h('p', part) : part))),
    form,
  ])
}
