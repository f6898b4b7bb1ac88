// The console's whole "framework": creates elements. Strings always become text nodes; there is no way to pass markup.

export type Child = Node | string | number | null | undefined | false
type Handler = (event: never) => void
export type Attributes = Readonly<Record<string, string | number | boolean | undefined | Handler>>

/**
 * `h('div.card', { id: 'x' }, 'Text', child)`: a tag with its classes, optional attributes, and children. `true` sets
 * an empty attribute; `false` and undefined set none.
 */
export const h = <Tag extends keyof HTMLElementTagNameMap>(
  selector: Tag | `${Tag}.${string}`,
  ...content: Content
): HTMLElementTagNameMap[Tag] =>
  build((tag) => document.createElement(tag) as HTMLElementTagNameMap[Tag], selector, content)

/** Like `h`, for SVG. */
export const svg = <Tag extends keyof SVGElementTagNameMap>(
  selector: Tag | `${Tag}.${string}`,
  ...content: Content
): SVGElementTagNameMap[Tag] =>
  build((tag) => document.createElementNS(SVG, tag) as SVGElementTagNameMap[Tag], selector, content)

const SVG = 'http://www.w3.org/2000/svg'

type Content = readonly [attributes: Attributes, ...children: Child[]] | readonly Child[]

function build<E extends Element>(create: (tag: string) => E, selector: string, content: Content): E {
  const [tag, ...classes] = selector.split('.')
  const element = create(tag!)
  const [first] = content
  const hasAttributes = typeof first === 'object' && first !== null && !(first instanceof Node)
  if (classes.length > 0) element.setAttribute('class', classes.join(' '))
  if (hasAttributes) setAttributes(element, first)
  element.append(...nodes((hasAttributes ? content.slice(1) : content) as readonly Child[]))
  return element
}

/** Isolates the direction of a caller's text: right-to-left text must not reorder its surroundings. */
export const nameText = (text: string): HTMLElement => h('bdi', text)

/** `attributes` override the defaults. */
export const button = (label: Child, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement =>
  h('button', { type: 'button', class: 'button', onclick, ...attributes }, label)

export const note = (...text: readonly Child[]): HTMLElement => h('p.muted', ...text)

/** A name and its value in a `dl`. */
export const fact = (name: string, ...value: readonly Child[]): HTMLElement =>
  h('div', h('dt', name), h('dd', ...value))

/** Replaces the children of an element, unless they are the same already. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  const wanted = nodes(children)
  const held = [...parent.childNodes]
  if (held.length === wanted.length && wanted.every((node, i) => node === held[i])) return
  keepFocus(parent, () => parent.replaceChildren(...wanted))
}

const FOCUSABLE = 'a[href], button, input, select, summary, [tabindex]'

/** Keeps the focus while elements are replaced: it moves to the element in the same place. */
export function keepFocus(parent: Element, change: () => void): void {
  const { activeElement } = document
  const place = parent.contains(activeElement) ? [...parent.querySelectorAll(FOCUSABLE)].indexOf(activeElement!) : -1
  change()
  if (place < 0 || document.activeElement === activeElement) return
  const left = [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)]
  ;(left[place] ?? left.at(-1))?.focus({ preventScroll: true })
}

/** Sets a text only if it differs: screen readers announce every change of a live region. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

const nodes = (children: readonly Child[]): (Node | string)[] =>
  children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === 'number' ? String(child) : (child as Node | string)))

function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
}

/** Cuts a text to `length` code units without splitting a surrogate pair, such as an emoji. */
export const cutText = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
