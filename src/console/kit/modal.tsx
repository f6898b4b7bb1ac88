// Dialogs. A page shows a `Modal` while its address says so, or opens one with `openDialog`, which outlives the page.
import { type ComponentChildren, render, type VNode } from 'preact'
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

/** `draw` makes a `Modal` that calls what it is given to close. */
export function openDialog(draw: (close: () => void) => VNode): void {
  const place = document.createElement('div')
  function close(): void {
    render(null, place)
    place.remove()
  }
  document.body.append(place)
  render(draw(close), place)
}

interface Once {
  readonly title: string
  readonly keep?: string
  /** The label of the button that closes it. */
  readonly closeLabel?: string
}

/** Shows what is not shown again. */
export const revealOnce = ({ title, keep, closeLabel = 'I’ve saved it' }: Once, content: ComponentChildren): void =>
  openDialog((close) => (
    <Modal title={title} keep={keep} close={close}>
      {content}
      <div class="form-buttons">
        <button type="button" class="button button-main" onClick={close}>
          {closeLabel}
        </button>
      </div>
    </Modal>
  ))
