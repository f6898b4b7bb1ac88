// Asks before an action: its consequences, the fields that it needs, and two buttons.
import type { ComponentChildren } from 'preact'
import type { DeletePath } from './ask.ts'
import { Form, type Values } from './form.tsx'
import { Modal } from './modal.tsx'
import { useView, type View } from './view.tsx'

interface ConfirmProps {
  readonly title: string
  readonly class?: string
  /** The consequences. */
  readonly text?: ComponentChildren
  /** The fields. */
  readonly children?: ComponentChildren
  readonly submitLabel: string
  readonly isDanger?: boolean
  /**
   * When it resolves, the dialog closes. Then the page asks again and screen readers hear what was done, or the
   * returned function is called. What it throws is shown.
   */
  submit(values: Values): Promise<string | (() => void)>
  close(): void
}

/** A dialog with state of its own draws this one; others call `confirm`. */
export function ConfirmDialog({ title, class: name = '', text, children, close, submit, ...form }: ConfirmProps) {
  const { app, again } = useView()
  async function submitAndClose(values: Values): Promise<void> {
    const done = await submit(values)
    close()
    if (typeof done !== 'string') return done()
    again()
    app.announce(done)
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

export const confirm = ({ open }: View, asked: Omit<ConfirmProps, 'close'>): void =>
  open((close) => <ConfirmDialog {...asked} close={close} />)

type Deletion = Omit<ConfirmProps, 'close' | 'submit' | 'children' | 'isDanger'> & {
  readonly path: DeletePath
  /** Announced to screen readers when it is deleted. */
  readonly done: string
}

export const confirmDelete = (view: View, { path, done, ...asked }: Deletion): void =>
  confirm(view, {
    ...asked,
    isDanger: true,
    async submit() {
      await view.app.api.send('DELETE', path)
      return done
    },
  })
