// The form in which an event lies in the spool and in the dead letters: one JSON array, its first member the kind.
// Only ever extended by new kinds or by members at the end: a spool written by an older Stint must stay readable.
import type { Event, Exception, Mark, Metrics } from './event.ts'

const MARK = { start: 's', end: 'e' } as const

/** One line of text without line breaks; decode with `fromRecord`. */
export function toRecord(event: Event): string {
  const { account, process, meta, stamp } = event
  switch (event.kind) {
    case 'start':
    case 'end':
      return JSON.stringify([MARK[event.kind], stamp.us, stamp.sub, account, process, meta, event.uid])
    case 'metrics':
      return JSON.stringify(['m', stamp.us, stamp.sub, account, process, meta, event.items])
    case 'exception':
      return JSON.stringify(['x', stamp.us, stamp.sub, account, process, meta, event.exception])
  }
}

/** Throws when the record is none that `toRecord` ever wrote. */
export function fromRecord(record: string): Event {
  const members: unknown = JSON.parse(record)
  if (!Array.isArray(members)) throw new Error('not a record')
  const [tag, us, sub, account, process, meta, body] = members as unknown[]
  if (!isWhole(us) || !isWhole(sub) || !isText(account) || !isText(process) || !isText(meta)) {
    throw new Error('not a record')
  }
  const common = { account, process, meta, stamp: { us, sub } }
  if (tag === 'm' && isItems(body)) return { kind: 'metrics', ...common, items: body } satisfies Metrics
  if (tag === 's' && isText(body)) return { kind: 'start', ...common, uid: body } satisfies Mark
  if (tag === 'e' && isText(body)) return { kind: 'end', ...common, uid: body } satisfies Mark
  if (tag === 'x' && isText(body)) return { kind: 'exception', ...common, exception: body } satisfies Exception
  throw new Error('unknown kind of record')
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

const isItems = (value: unknown): value is Metrics['items'] =>
  Array.isArray(value) &&
  value.every((item) => Array.isArray(item) && isText(item[0]) && typeof item[1] === 'number' && item.length === 2)
