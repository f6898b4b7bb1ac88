// The header of a page, and its text without any row.
import type { ComponentChildren } from 'preact'
import { plural } from './format-number.ts'
import { Icon } from './icon.tsx'
import { RangePicker } from './range-picker.tsx'
import { describeLive, describeRange } from './time-range.ts'
import { useId } from './use-id.ts'
import { useRange, useView } from './view.tsx'

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

/** The header of a page over a range of time. */
export const RangeHeader = ({ title, crumb, children, ...picker }: RangeHeaderProps) => (
  <>
    <header>
      {crumb && <p class="crumb">{crumb}</p>}
      <h1 tabIndex={-1}>{title}</h1>
    </header>
    <Controls {...picker}>{children}</Controls>
  </>
)

/** Parameters of the address that narrow nothing. */
const NO_FILTERS = ['from', 'to', 'page', 'pages', 'run', 'beside', 'quiet', 'sort', 'every', 'stat']

/** On a phone they are a sheet, behind a button that says what is chosen. */
function Controls({ children, ...picker }: Pick<RangeHeaderProps, 'fallback' | 'ends' | 'children'>) {
  const id = useId()
  const { params, nowMs } = useView()
  const range = useRange(picker.fallback)
  const filters = new Set([...params.keys()].filter((name) => !NO_FILTERS.includes(name))).size
  const shown = describeRange(range, nowMs) ?? describeLive(range)
  return (
    <>
      <button type="button" class="button sheet-button" popovertarget={id}>
        {[shown, filters > 0 && plural(filters, 'filter')].filter(Boolean).join(' · ')}
        <Icon name="settings" />
        <span class="hidden">Range and filters</span>
      </button>
      <div class="toolbar sheet" id={id} popover="auto">
        <RangePicker {...picker} />
        {children}
        <button type="button" class="button button-main sheet-done" popovertarget={id} popovertargetaction="hide">
          Done
        </button>
      </div>
    </>
  )
}

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <Icon name="empty" />
    <p class="empty-title">{title}</p>
    {children}
  </div>
)
