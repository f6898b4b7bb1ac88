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
  const [tag, us, sub, account, process, meta, body] = JSON.parse(record) as [
    string,
    number,
    number,
    string,
    string,
    string,
    unknown,
  ]
  const common = { account, process, meta, stamp: { us, sub } }
  switch (tag) {
    case 's':
      return { kind: 'start', ...common, uid: body as string } satisfies Mark
    case 'e':
      return { kind: 'end', ...common, uid: body as string } satisfies Mark
    case 'm':
      return { kind: 'metrics', ...common, items: body as Metrics['items'] } satisfies Metrics
    case 'x':
      return { kind: 'exception', ...common, exception: body as string } satisfies Exception
    default:
      throw new Error('unknown kind of record')
  }
}
