// An event's form in the spool and in dead letters: one JSON array, its first member the tag of its kind.
// Only new kinds or members at the end may be added: spools of older versions must stay readable.
import { EVENT_KINDS, type Event, KINDS, type Metrics, ownValue } from './event.ts'

const TAGS = new Map(
  EVENT_KINDS.flatMap((kind) => {
    const { own, tag, failedTag } = KINDS[kind]
    const plain = [tag, { kind, own, failed: {} }] as const
    return failedTag === undefined ? [plain] : [plain, [failedTag, { kind, own, failed: { failed: true } }] as const]
  }),
)

/** One line of text without line breaks; decode with `fromRecord`. */
export function toRecord(event: Event): string {
  const { kind, account, process, meta, stamp, uid } = event
  const { tag, failedTag } = KINDS[kind]
  const value = ownValue(event)
  const members = [event.kind === 'end' && event.failed ? failedTag : tag, stamp.us, stamp.sub, account, process, meta]
  if (value !== undefined) members.push(value as string)
  if (uid !== undefined) members.push(uid)
  return JSON.stringify(members)
}

/** The account of a record, by its first 200 characters; undefined when `toRecord` cannot have written them. */
export const accountOfRecord = (head: string): string | undefined => /^\["[a-z]",\d+,\d+,"([^"\\]+)"/.exec(head)?.[1]

/** Throws when no `toRecord` can have written the record. */
export function fromRecord(record: string): Event {
  const members: unknown = JSON.parse(record)
  if (!Array.isArray(members)) throw new Error('not a record')
  const [tag, us, sub, account, process, meta, ...rest] = members as unknown[]
  if (!isWhole(us) || !isWhole(sub) || !isText(account) || !isText(process) || !isText(meta))
    throw new Error('not a record')
  const found = isText(tag) ? TAGS.get(tag) : undefined
  if (found === undefined) throw new Error('unknown kind of record')
  const { kind, own, failed } = found
  const common = { kind, account, process, meta, stamp: { us, sub }, ...failed }
  if (own === undefined) {
    if (!isText(rest[0])) throw new Error('not a record')
    return { ...common, uid: rest[0] } as Event
  }
  const [value, uid] = rest
  if (!(own === 'items' ? isItems(value) : isText(value))) throw new Error('not a record')
  return { ...common, ...(isText(uid) && { uid }), [own]: value } as Event
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

const isItems = (value: unknown): value is Metrics['items'] =>
  Array.isArray(value) &&
  value.every((item) => Array.isArray(item) && isText(item[0]) && typeof item[1] === 'number' && item.length === 2)
