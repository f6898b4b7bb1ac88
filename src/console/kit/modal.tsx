// A dialog that its page shows: the browser moves the focus into it, and back when it closes.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useId } from './use-id.ts'

interface Props {
  readonly title: string
  readonly class?: string
  readonly children: ComponentChildren
  close(): void
}

export function Modal({ title, class: name = '', children, close }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const element = dialog.current!
    element.showModal()
    return () => element.close()
  }, [])
  return (
    <dialog class={`dialog ${name}`} aria-labelledby={id} ref={dialog} onCancel={close} onClose={close}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
