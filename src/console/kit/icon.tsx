// The icons of icons.ts as a component, and other small parts of every page.
import type { ComponentChildren } from 'preact'
import { type IconName, PATHS } from './icons.ts'

export const Icon = ({ name }: { name: IconName }) => (
  <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    {PATHS[name].map((d) => (
      <path key={d} d={d} />
    ))}
  </svg>
)

interface CardProps {
  readonly title: string
  readonly about?: ComponentChildren
  readonly end?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

/** A heading, something about it, something at its end, and the content. */
export const Card = ({ title, about, end, class: more = '', children }: CardProps) => (
  <section class={`card ${more}`}>
    <header class="card-head">
      <h2>{title}</h2>
      {about}
      <span class="card-end">{end}</span>
    </header>
    {children}
  </section>
)

/** Three runs in their lanes, the same as the favicon. */
export const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <rect class="logo-ground" width={24} height={24} rx={6} />
    <rect class="logo-bar" x={4} y={6} width={9} height={3} rx={1.5} />
    <rect class="logo-bar" x={8} y={10.5} width={12} height={3} rx={1.5} />
    <rect class="logo-bar" x={5} y={15} width={6} height={3} rx={1.5} />
  </svg>
)
