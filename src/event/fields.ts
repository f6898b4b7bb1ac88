// The rules of SPEC.md for each field of a request, and what DESIGN.md section 3 adds to them. Each `check…` returns what is wrong
// with a value as it was sent; lengths are Unicode code points. Details never repeat the caller's value.

/** A fault inside a field: `pointer` is relative to the field, '' for the field itself. */
export interface FieldFault {
  readonly pointer: string
  readonly detail: string
}

export const LIMITS = { process: 250, meta: 500, uid: 50, name: 250, items: 50, exception: 15_000 } as const

const one = (detail: string): FieldFault[] => [{ pointer: '', detail }]
const NONE: FieldFault[] = []

const STRIPPED = /['"%\u0000-\u001f\u007f]/
const STRIPPED_ALL = /['"%\u0000-\u001f\u007f]/g

/** What is kept of a process or meta: without `'`, `"`, `%` and control characters, then without trailing backslashes. */
export function stripText(text: string): string {
  const kept = STRIPPED.test(text) ? text.replace(STRIPPED_ALL, '') : text
  if (!kept.endsWith('\\')) return kept
  let end = kept.length
  while (kept.charCodeAt(end - 1) === 92) end--
  return kept.slice(0, end)
}

/** A string has at most as many code points as UTF-16 units, so the walk is only for those that look too long. */
function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false
  let points = 0
  for (const _ of text) if (++points > max) return true
  return false
}

function checkText(value: unknown, max: number): FieldFault[] {
  if (typeof value !== 'string') return one('must be a string')
  if (isLongerThan(value, max)) return one(`must have at most ${max} characters`)
  if (!value.isWellFormed()) return one('must be well-formed Unicode')
  return NONE
}

export function checkProcess(value: unknown): FieldFault[] {
  const faults = checkText(value, LIMITS.process)
  if (faults.length > 0) return faults
  if (value === '') return one('must not be empty')
  return stripText(value as string) === '' ? one('must not be empty after stripping') : NONE
}

export const checkMeta = (value: unknown): FieldFault[] => checkText(value, LIMITS.meta)

const UID = /^[a-z0-9_-]*$/

export function checkUid(value: unknown): FieldFault[] {
  if (typeof value !== 'string') return one('must be a string')
  const faults = isLongerThan(value, LIMITS.uid) ? one(`must have at most ${LIMITS.uid} characters`) : NONE
  return UID.test(value) ? faults : [...one('may only hold a-z, 0-9, - and _'), ...faults]
}

export const checkExceptionText = (value: unknown): FieldFault[] => checkText(value, LIMITS.exception)

/** What is wrong with the name of a metric, or undefined. */
export function nameFault(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be a string'
  if (name === '') return 'a metric name must not be empty'
  if (isLongerThan(name, LIMITS.name)) return `a metric name must have at most ${LIMITS.name} characters`
  if (!name.isWellFormed()) return 'a metric name must be well-formed Unicode'
  if (STRIPPED.test(name)) return 'a metric name must not hold \', ", % or control characters'
  return name.endsWith('\\') ? 'a metric name must not end in a backslash' : undefined
}

const valueFault = (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a finite number'

/** A member name as one step of a JSON pointer (RFC 6901). */
export const escapePointer = (member: string) => member.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One entry of a list: the metric it holds, and the members that name and value stand in. */
function readEntry(
  entry: Record<string, unknown>,
): { name: unknown; value: unknown; at: [string, string] } | undefined {
  const members = Object.keys(entry)
  if (members.length === 2 && Object.hasOwn(entry, 'name') && Object.hasOwn(entry, 'value'))
    return { name: entry.name, value: entry.value, at: ['/name', '/value'] }
  const [name] = members
  if (members.length !== 1 || name === undefined) return undefined
  const pointer = `/${escapePointer(name)}`
  return { name, value: entry[name], at: [pointer, pointer] }
}

/** The metrics of an `items` that `checkItems` found right, in any of its three forms. */
export function readItems(items: unknown): [name: string, value: number][] {
  if (!Array.isArray(items)) return Object.entries(items as Record<string, number>)
  return items.map((entry) => {
    const { name, value } = readEntry(entry as Record<string, unknown>)!
    return [name as string, value as number]
  })
}

export function checkItems(items: unknown): FieldFault[] {
  const isList = Array.isArray(items)
  if (!isList && !isObject(items)) return one('must be an object of numbers or a list of metrics')
  const count = isList ? items.length : Object.keys(items).length
  if (count === 0) return one('must hold at least one metric')
  if (count > LIMITS.items) return one(`must hold at most ${LIMITS.items} metrics`)
  return isList ? checkList(items) : checkObject(items)
}

function checkObject(items: Record<string, unknown>): FieldFault[] {
  const faults: FieldFault[] = []
  for (const name of Object.keys(items)) {
    const detail = nameFault(name) ?? valueFault(items[name])
    if (detail !== undefined) faults.push({ pointer: `/${escapePointer(name)}`, detail })
  }
  return faults
}

function checkList(items: readonly unknown[]): FieldFault[] {
  const faults: FieldFault[] = []
  const seen = new Set<unknown>()
  items.forEach((entry, i) => {
    const metric = isObject(entry) ? readEntry(entry) : undefined
    if (metric === undefined) {
      faults.push({ pointer: `/${i}`, detail: 'must be {"name": …, "value": …} or a single name with its number' })
      return
    }
    const [nameAt, valueAt] = metric.at
    const wrongName = nameFault(metric.name)
    if (wrongName !== undefined) faults.push({ pointer: `/${i}${nameAt}`, detail: wrongName })
    else if (seen.has(metric.name)) faults.push({ pointer: `/${i}${nameAt}`, detail: 'names a metric twice' })
    seen.add(metric.name)
    const wrongValue = valueFault(metric.value)
    if (wrongValue !== undefined && !(wrongName !== undefined && nameAt === valueAt))
      faults.push({ pointer: `/${i}${valueAt}`, detail: wrongValue })
  })
  return faults
}
