// A button that opens a list of actions. Escape, a choice and a click beside it close the list; arrow keys move in it.
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { moveFocus } from './segments.tsx'
import { useId } from './use-id.ts'

interface Props {
  readonly label: string
  /** For screen readers, where the label says too little. */
  readonly name?: string
  /** Buttons and links. */
  readonly children: ComponentChildren
}

interface MenuActionProps {
  readonly label: string
  /** Names the row to screen readers. */
  readonly about: string
  readonly isDanger?: boolean
  act(): void
}

export const MenuAction = ({ label, about, isDanger, act }: MenuActionProps) => (
  <button type="button" class={isDanger ? 'bad' : undefined} aria-label={`${label} ${about}`} onClick={act}>
    {label}
  </button>
)

const GAP_PX = 4
/** Nearer to the lower edge than this the list opens upwards. */
const ROOM_PX = 180

export function Menu({ label, name, children }: Props) {
  const id = useId()
  const [button, list] = [useRef<HTMLButtonElement>(null), useRef<HTMLDivElement>(null)]
  function place(): void {
    const { top, bottom, right } = button.current!.getBoundingClientRect()
    const isLow = bottom > innerHeight - ROOM_PX
    Object.assign(list.current!.style, {
      right: `${document.documentElement.clientWidth - right}px`,
      top: isLow ? 'auto' : `${bottom + GAP_PX}px`,
      bottom: isLow ? `${innerHeight - top + GAP_PX}px` : 'auto',
    })
  }
  return (
    <>
      <button type="button" class="button button-small" aria-label={name} ref={button} popovertarget={id}>
        {label}
      </button>
      <div
        role="group"
        aria-label={name ?? label}
        class="menu-list"
        id={id}
        popover="auto"
        ref={list}
        onBeforeToggle={place}
        onClick={() => list.current!.hidePopover()}
        onKeyDown={moveFocus}
      >
        {children}
      </div>
    </>
  )
}
