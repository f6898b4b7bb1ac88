// What a person changed, for the audit log: each member of the body with its value before and after.

const SHOWN_MAX = 80

/** `pager: name on call → pager, enabled → false`. What only the sender may see is named without its value. */
export function describeChange(name: string, sent: object, before: object, after: object): string {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const texts = Object.entries(sent).map(([member, value]) => {
    const [from, to] = [old, now].map((of) => (of.has(member) ? wordOf(of.get(member)) : undefined))
    if (from === undefined && typeof value === 'boolean') return `${member} → ${value}`
    return from === undefined || to === undefined || from === to ? member : `${member} ${from} → ${to}`
  })
  return `${name}: ${texts.join(', ')}`
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : cut(value.map(wordOf).join(' and '))
  if (typeof value !== 'object') return cut(String(value))
  const parts = Object.entries(value).filter(([, part]) => part !== null && part !== undefined)
  return cut(`(${parts.map(([member, part]) => `${member} ${wordOf(part)}`).join(', ')})`)
}

const cut = (text: string): string => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
