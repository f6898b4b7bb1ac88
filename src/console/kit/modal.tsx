// Dialogs. A page shows a `Modal` while its address says so, or opens one that outlives it with `open` of its view.
import { type ComponentChildren, Fragment, type VNode } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useId } from './use-id.ts'

interface Props {
  readonly title: string
  readonly class?: string
  /** Escape shows this warning instead of closing the dialog, and links leave it: its content is shown only once. */
  readonly keep?: string | undefined
  readonly children: ComponentChildren
  close(): void
}

/** The browser moves the focus into it, and back when it closes. */
export function Modal({ title, class: name = '', keep, children, close }: Props) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [isWarned, setWarned] = useState(false)
  const isGone = useRef(false)
  useLayoutEffect(() => {
    const element = dialog.current!
    element.showModal()
    return () => {
      isGone.current = true // its event comes later, when another dialog may be in its place
      element.close()
      if (document.activeElement === document.body) document.querySelector('h1')?.focus() // its opener is gone
    }
  }, [])
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || keep === undefined) return
    event.preventDefault()
    setWarned(true)
  }
  return (
    <dialog
      class={`dialog ${name}`}
      aria-labelledby={id}
      closedby={keep === undefined ? 'closerequest' : 'none'}
      ref={dialog}
      onKeyDown={onKeyDown}
      onClose={() => isGone.current || close()}
    >
      <h2 id={id}>{title}</h2>
      {children}
      {isWarned && (
        <p class="banner banner-warn" role="alert">
          {keep}
        </p>
      )}
    </dialog>
  )
}

/** Makes a `Modal` that calls what it is given to close. */
export type Draw = (close: () => void) => VNode

/** The dialogs that are open, and what opens another. */
export function useDialogs(): readonly [dialogs: readonly VNode[], open: (draw: Draw) => void] {
  const [drawn, setDrawn] = useState<readonly VNode[]>([])
  const made = useRef(0)
  function open(draw: Draw): void {
    const dialog: VNode = (
      <Fragment key={++made.current}>{draw(() => setDrawn((now) => now.filter((other) => other !== dialog)))}</Fragment>
    )
    setDrawn((now) => [...now, dialog])
  }
  return [drawn, open]
}

interface Once {
  readonly title: string
  readonly keep?: string
  /** The label of the button that closes it. */
  readonly closeLabel?: string
}

/** Shows what is not shown again. */
export const revealOnce = (
  { open }: { open(draw: Draw): void },
  { title, keep, closeLabel = 'I’ve saved it' }: Once,
  content: ComponentChildren,
): void =>
  open((close) => (
    <Modal title={title} keep={keep} close={close}>
      {content}
      <div class="form-buttons">
        <button type="button" class="button button-main" onClick={close}>
          {closeLabel}
        </button>
      </div>
    </Modal>
  ))
