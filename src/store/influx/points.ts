// Events as lines of line protocol. A mark is one point, a request's metrics are one point a name: then no name of a
// caller's can clash with a reserved column or with the type of a field. Tags are in alphabetical order, as InfluxDB
// likes them. What no tag can hold (control characters, a trailing backslash) was stripped when the event came in.
import type { Event, Mark, Metrics } from '../../event/event.ts'
import { formatStampNs } from '../../event/stamp.ts'
import { lineEscape } from './client.ts'

/** Appends the event's lines. Throws for a kind that has no place in InfluxDB. */
export function pushLines(lines: string[], event: Event): void {
  switch (event.kind) {
    case 'start':
    case 'end':
      lines.push(markLine(event))
      return
    case 'metrics':
      pushMetricLines(lines, event)
      return
    case 'exception':
      throw new Error('an exception is no point')
  }
}

function markLine({ kind, account, process, meta, uid, stamp }: Mark): string {
  const ns = formatStampNs(stamp)
  const pair = uid === '' ? NO_UID_PAIR[kind] : pairOf(uid, kind)
  return `mark,account=${lineEscape.tag(account)},mark=${kind}${metaTag(meta)},process=${lineEscape.tag(process)} at=${ns}i,pair=${pair}i,uid=${lineEscape.quoted(uid)} ${ns}`
}

function pushMetricLines(lines: string[], { account, process, meta, items, stamp }: Metrics): void {
  const ns = formatStampNs(stamp)
  const head = `metric,account=${lineEscape.tag(account)}${metaTag(meta)},name=`
  const middle = `,process=${lineEscape.tag(process)} value=`
  for (const [name, value] of items) lines.push(`${head}${lineEscape.tag(name)}${middle}${value} ${ns}`)
}

const metaTag = (meta: string): string => (meta === '' ? '' : `,meta=${lineEscape.tag(meta)}`)

/**
 * 4·h + m, h the low 60 bits of XXH64(uid) as two's complement, m = 0 for a start and 1 for an end. Sorted by uid and
 * time, a difference of +1 between neighbours means "same uid, a start, then its end", and 0 "same uid, same mark".
 */
export function pairOf(uid: string, mark: Mark['kind']): bigint {
  return BigInt.asIntN(60, Bun.hash.xxHash64(uid)) * 4n + (mark === 'end' ? 1n : 0n)
}

const NO_UID_PAIR = { start: pairOf('', 'start'), end: pairOf('', 'end') }
