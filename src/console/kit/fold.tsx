// Rarely used fields of a form, folded under a label.
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useFaults } from './form.tsx'

interface Props {
  readonly label: string
  readonly isOpen: boolean
  readonly children: ComponentChildren
}

/** Opens when a field in it is wrong. */
export function Fold({ label, isOpen, children }: Props) {
  const fold = useRef<HTMLDetailsElement>(null)
  const faults = useFaults()
  useLayoutEffect(() => {
    const inputs = fold.current!.querySelectorAll<HTMLInputElement>('[name]')
    if ([...inputs].some(({ name }) => faults[name] !== undefined)) fold.current!.open = true
  }, [faults])
  return (
    <details class="fold" open={isOpen} ref={fold}>
      <summary>{label}</summary>
      {children}
    </details>
  )
}
