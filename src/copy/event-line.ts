// One event as a line of a file (NDJSON): the fields of its call, and its stamp, which is its identity. `at` is for people; reading ignores it.
//
//   {"kind":"end","account":"acc_…","process":"nightly import","meta":"eu","uid":"a1","failed":true,"at":"2026-…Z","stamp":"1763675562171920042"}
import { EVENT_KINDS, type Event, type EventKind, isEventKind, ownFields } from '../event/event.ts'
import { Faults } from '../event/faults.ts'
import { isObject } from '../event/fields.ts'
import { parseEvent, toEvent } from '../event/parse-event.ts'
import { formatStampNs, formatTime, parseStampNs } from '../event/stamp.ts'

/** Without its line break. Without account for an export, which is of one account. */
export function toLine(event: Event, withAccount: boolean): string {
  const { kind, account, process, meta, uid = '', stamp, content } = event
  return JSON.stringify({
    kind,
    ...(withAccount && { account }),
    process,
    ...(meta !== '' && { meta }),
    ...(uid !== '' && { uid }),
    ...ownFields(event),
    at: formatTime(stamp),
    stamp: formatStampNs(stamp),
    ...(content !== undefined && { content: String(content) }),
  })
}

const STAMP = /^[1-9]\d{3,18}$/
const CONTENT = /^\d{1,20}$/
/** Fields are checked as those of a request, but for the time: history is old. */
const NO_TIMES = { maxAgeUs: Number.MAX_SAFE_INTEGER, wallUs: () => 0 }

/** `account` is that of every event of the file; absent = each line names its own. Throws an Error that names the fault of the line. */
export function fromLine(line: string, account?: string): Event {
  const value: unknown = JSON.parse(line)
  if (!isObject(value)) throw new Error('not a JSON object')
  const { kind, account: own, at: _, stamp, content, ...fields } = value
  if (!isEventKind(kind)) throw new Error(`\`kind\` must be one of ${EVENT_KINDS.join(', ')}`)
  const owner = account ?? own
  if (typeof owner !== 'string' || owner === '') throw new Error('`account` is missing')
  if (typeof stamp !== 'string' || !STAMP.test(stamp))
    throw new Error('`stamp` must be nanoseconds since the epoch as text')
  if (content !== undefined && !(typeof content === 'string' && CONTENT.test(content)))
    throw new Error('`content` must be a number as text')
  const faults = new Faults()
  const draft = parseEvent(kind, fields, NO_TIMES, faults)
  if (draft === undefined) {
    const [fault] = faults.list
    throw new Error(`${fault?.pointer.slice(1) || 'the line'} ${fault?.detail}`)
  }
  const event = toEvent(draft, owner, parseStampNs(stamp))
  return content === undefined ? event : { ...event, content: BigInt(content) }
}

/** Of a line that `toLine` wrote, without parsing all of it; undefined for any other. */
export function kindOfLine(line: string): EventKind | undefined {
  const kind = /^\{"kind":"(\w+)"/.exec(line)?.[1]
  return isEventKind(kind) ? kind : undefined
}
