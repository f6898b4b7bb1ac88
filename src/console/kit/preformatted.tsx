// A text as it was sent, which the keyboard scrolls.
import type { ComponentChildren } from 'preact'

interface Props {
  /** For screen readers. */
  readonly label: string
  readonly class?: string
  readonly children: ComponentChildren
}

export const Preformatted = ({ label, class: look, children }: Props) => (
  <pre class={look} tabIndex={0} role="region" aria-label={label}>
    {children}
  </pre>
)
