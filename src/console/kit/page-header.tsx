// What pages without data of their own in the heading begin with, and what they show without any row.
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

interface HeaderProps {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  /** The actions of the page. */
  readonly children?: ComponentChildren
}

export const PageHeader = ({ title, lead, children }: HeaderProps) => (
  <header class="page-header">
    <div>
      <h1 tabIndex={-1}>{title}</h1>
      {lead !== undefined && <p class="lead">{lead}</p>}
    </div>
    <div class="button-row">{children}</div>
  </header>
)

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <Icon name="empty" />
    <p class="empty-title">{title}</p>
    {children}
  </div>
)
