// The rules for each field of a request. `check…` returns the faults of one value, as it was sent, in words that
// never repeat the caller's value; lengths are Unicode code points.
import { TEXTS, type TextKind } from './event.ts'
import type { Faults } from './faults.ts'

export const LIMITS = {
  process: 250,
  meta: 500,
  uid: 50,
  name: 250,
  items: 50,
  ...TEXTS,
} as const

const NONE: readonly string[] = []

const STRIPPED = /['"%\u0000-\u001f\u007f]/
const STRIPPED_ALL = /['"%\u0000-\u001f\u007f]/g
/** Fails at the first character of most texts, where stripping looks at all of them. */
const NOTHING_KEPT = /^['"%\\\u0000-\u001f\u007f]*$/

/**
 * A process or meta as it is stored: without `'`, `"`, `%` and control characters, then without trailing backslashes.
 */
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

function checkText(value: unknown, max: number): readonly string[] {
  if (typeof value !== 'string') return ['must be a string']
  if (isLongerThan(value, max)) return [`must have at most ${max} characters`]
  if (!value.isWellFormed()) return ['must be well-formed Unicode']
  return NONE
}

export function checkProcess(value: unknown): readonly string[] {
  const faults = checkText(value, LIMITS.process)
  if (faults.length > 0) return faults
  if (value === '') return ['must not be empty']
  return NOTHING_KEPT.test(value as string) ? ['must not be empty after stripping'] : NONE
}

export const checkMeta = (value: unknown): readonly string[] => checkText(value, LIMITS.meta)

const UID = /^[a-z0-9_-]*$/

export function checkUid(value: unknown): readonly string[] {
  if (typeof value !== 'string') return ['must be a string']
  const faults = isLongerThan(value, LIMITS.uid) ? [`must have at most ${LIMITS.uid} characters`] : NONE
  return UID.test(value) ? faults : ['may only hold a-z, 0-9, - and _', ...faults]
}

export const checkOwnText = (kind: TextKind, value: unknown): readonly string[] => checkText(value, LIMITS[kind])

/** The fault of a metric's name, undefined when it is valid. */
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

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One entry of a list: its metric, and the members that hold name and value. */
function readEntry(
  entry: Record<string, unknown>,
): { name: unknown; value: unknown; at: readonly [string, string] } | undefined {
  const members = Object.keys(entry)
  if (members.length === 2 && Object.hasOwn(entry, 'name') && Object.hasOwn(entry, 'value'))
    return { name: entry.name, value: entry.value, at: ['name', 'value'] }
  const [name] = members
  return members.length === 1 && name !== undefined ? { name, value: entry[name], at: [name, name] } : undefined
}

type Items = [name: string, value: number][]

/** The metrics of `items` in any of its three forms; faults go to `faults`, their pointers below `pointer`. */
export function parseItems(items: unknown, faults: Faults, pointer: string): Items {
  const isList = Array.isArray(items)
  if (!isList && !isObject(items)) {
    faults.add(pointer, 'must be an object of numbers or a list of metrics')
    return []
  }
  const names = isList ? [] : Object.keys(items)
  const count = isList ? items.length : names.length
  if (count > 0 && count <= LIMITS.items)
    return isList ? parseList(items, faults, pointer) : parseObject(items, names, faults, pointer)
  faults.add(pointer, count === 0 ? 'must hold at least one metric' : `must hold at most ${LIMITS.items} metrics`)
  return []
}

function parseObject(items: Record<string, unknown>, names: readonly string[], faults: Faults, pointer: string): Items {
  const found: Items = []
  for (const name of names) {
    const value = items[name]
    // One fault at most: when it is only counted, the cheaper check comes first.
    const detail = faults.isFull ? (valueFault(value) ?? nameFault(name)) : (nameFault(name) ?? valueFault(value))
    if (detail === undefined) found.push([name, value as number])
    else faults.addMember(pointer, name, detail)
  }
  return found
}

function parseList(items: readonly unknown[], faults: Faults, pointer: string): Items {
  const found: Items = []
  const seen = new Set<unknown>()
  items.forEach((entry, i) => {
    const at = `${pointer}/${i}`
    const metric = isObject(entry) ? readEntry(entry) : undefined
    if (metric === undefined) {
      faults.add(at, 'must be {"name": …, "value": …} or a single name with its number')
      return
    }
    const { name, value } = metric
    const [nameAt, valueAt] = metric.at
    const wrongName = nameFault(name)
    if (wrongName !== undefined) faults.addMember(at, nameAt, wrongName)
    else if (seen.has(name)) faults.addMember(at, nameAt, 'names a metric twice')
    seen.add(name)
    const wrongValue = valueFault(value)
    if (wrongValue !== undefined && (wrongName === undefined || nameAt !== valueAt))
      faults.addMember(at, valueAt, wrongValue)
    found.push([name as string, value as number])
  })
  return found
}
