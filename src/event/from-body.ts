// A checked body of /v1 becomes an event: stripped, its empty fields made one with absent ones.
import type { Event, EventKind } from './event.ts'
import { readItems, stripText } from './fields.ts'
import type { Stamp } from './stamp.ts'

/** The body as the schema of its kind let it pass. */
export interface EventBody {
  readonly process: string
  readonly meta?: string
  readonly uid?: string
  readonly items?: unknown
  readonly exception?: string
  readonly at?: string
}

export function eventFromBody(kind: EventKind, body: EventBody, account: string, stamp: Stamp): Event {
  const process = stripText(body.process)
  const meta = body.meta === undefined ? '' : stripText(body.meta)
  switch (kind) {
    case 'metrics':
      return { kind, account, process, meta, stamp, items: readItems(body.items) }
    case 'exception':
      return { kind, account, process, meta, stamp, exception: body.exception ?? '' }
    default:
      return { kind, account, process, meta, stamp, uid: body.uid ?? '' }
  }
}
