// Asks before an action: its consequences, the fields that it needs, and two buttons.
import type { ComponentChildren } from 'preact'
import { Form, type Values } from './form.tsx'
import { Modal, openDialog } from './modal.tsx'
import type { App } from './page.ts'

interface ConfirmProps {
  readonly title: string
  readonly class?: string
  /** The consequences. */
  readonly text?: ComponentChildren
  /** The fields. */
  readonly children?: ComponentChildren
  readonly submitLabel: string
  readonly isDanger?: boolean
  /** When it resolves, the dialog closes, and then the returned function is called. What it throws is shown. */
  submit(values: Values): Promise<(() => void) | undefined>
  close(): void
}

/** After a change: the page asks again, and screen readers hear what was done. */
export const announced = (app: Pick<App, 'announce'>, again: () => void, said: string) => () => {
  again()
  app.announce(said)
}

/** A dialog with state of its own draws this one; others call `confirm`. */
export function ConfirmDialog({ title, class: name = '', text, children, close, submit, ...form }: ConfirmProps) {
  async function submitAndClose(values: Values): Promise<void> {
    const afterwards = await submit(values)
    close()
    afterwards?.()
  }
  return (
    <Modal title={title} class={name} close={close}>
      {text !== undefined && <div class="dialog-text">{typeof text === 'string' ? <p>{text}</p> : text}</div>}
      <Form
        {...form}
        submit={submitAndClose}
        buttons={
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
        }
      >
        {children}
      </Form>
    </Modal>
  )
}

export const confirm = (asked: Omit<ConfirmProps, 'close'>): void =>
  openDialog((close) => <ConfirmDialog {...asked} close={close} />)
