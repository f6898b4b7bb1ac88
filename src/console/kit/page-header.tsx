// What pages begin with, and what they show without any row.
import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'
import { RangePicker } from './range-picker.tsx'

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

interface RangeHeaderProps {
  readonly title: string
  /** A link to what the page is a part of. */
  readonly crumb?: ComponentChildren
  /** The range without one in the address. */
  readonly fallback?: string | undefined
  readonly ends?: readonly string[]
  /** The filters. */
  readonly children: ComponentChildren
}

/** Of a page over a range of time. */
export const RangeHeader = ({ title, crumb, children, ...picker }: RangeHeaderProps) => (
  <>
    <header>
      {crumb && <p class="crumb">{crumb}</p>}
      <h1 tabIndex={-1}>{title}</h1>
    </header>
    <div class="toolbar">
      <RangePicker {...picker} />
      {children}
    </div>
  </>
)

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <Icon name="empty" />
    <p class="empty-title">{title}</p>
    {children}
  </div>
)
