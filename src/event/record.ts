// The form in which an event lies in the spool and in the dead letters: one JSON array, its first member the kind.
// Only ever extended by new kinds or by members at the end: a spool written by an older Stint must stay readable.
import { type Event, type Exception, type Mark, type Metrics, markName } from './event.ts'

const MARK = { start: 's', end: 'e', failed: 'f' } as const

/** One line of text without line breaks; decode with `fromRecord`. */
export function toRecord(event: Event): string {
  const { account, process, meta, stamp } = event
  switch (event.kind) {
    case 'start':
    case 'end':
      return JSON.stringify([MARK[markName(event)], stamp.us, stamp.sub, account, process, meta, event.uid])
    case 'metrics':
      return toJson(['m', stamp.us, stamp.sub, account, process, meta, event.items], event.uid)
    case 'exception':
      return toJson(['x', stamp.us, stamp.sub, account, process, meta, event.exception], event.uid)
    default:
      return event satisfies never
  }
}

const toJson = (members: unknown[], uid: string | undefined): string =>
  JSON.stringify(uid === undefined ? members : [...members, uid])

/** Throws when no `toRecord` can have written the record. */
export function fromRecord(record: string): Event {
  const members: unknown = JSON.parse(record)
  if (!Array.isArray(members)) throw new Error('not a record')
  const [tag, us, sub, account, process, meta, body, run] = members as unknown[]
  if (!isWhole(us) || !isWhole(sub) || !isText(account) || !isText(process) || !isText(meta)) {
    throw new Error('not a record')
  }
  const common = { account, process, meta, stamp: { us, sub } }
  const uid = isText(run) ? { uid: run } : {}
  if (tag === 'm' && isItems(body)) return { kind: 'metrics', ...common, ...uid, items: body } satisfies Metrics
  if (tag === 's' && isText(body)) return { kind: 'start', ...common, uid: body } satisfies Mark
  if (tag === 'e' && isText(body)) return { kind: 'end', ...common, uid: body } satisfies Mark
  if (tag === 'f' && isText(body)) return { kind: 'end', ...common, uid: body, failed: true } satisfies Mark
  if (tag === 'x' && isText(body)) return { kind: 'exception', ...common, ...uid, exception: body } satisfies Exception
  throw new Error('unknown kind of record')
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

const isItems = (value: unknown): value is Metrics['items'] =>
  Array.isArray(value) &&
  value.every((item) => Array.isArray(item) && isText(item[0]) && typeof item[1] === 'number' && item.length === 2)
