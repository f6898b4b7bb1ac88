// Asked when a link is about another account than the session shows: the session is that of all tabs.
import { useLayoutEffect } from 'preact/hooks'
import { DoorFrame } from './door.tsx'

interface Named {
  readonly id: string
  readonly name: string
}

interface SwitchAccountProps {
  readonly linked: Named
  readonly shown: Named
  choose(id: string): void
  setTitle(title: string): void
}

export function SwitchAccount({ linked, shown, choose, setTitle }: SwitchAccountProps) {
  useLayoutEffect(() => setTitle('Switch account?'), [])
  return (
    <DoorFrame>
      <div class="door-place">
        <h1 tabIndex={-1}>Switch account?</h1>
        <p>
          This link is about {linked.name}. This browser now shows {shown.name}; its other tabs switch, too.
        </p>
        <button type="button" class="button button-main" onClick={() => choose(linked.id)}>
          Switch to {linked.name}
        </button>{' '}
        <button type="button" class="button" onClick={() => choose(shown.id)}>
          Stay in {shown.name}
        </button>
      </div>
    </DoorFrame>
  )
}
