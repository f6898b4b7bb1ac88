// Encodes events as line protocol. A mark is one point; metrics are one point per name, so that no metric name can
// clash with a reserved column or the type of a field. Tags are sorted, as InfluxDB prefers. Text that no tag can hold
// (control characters, a trailing backslash) was stripped when the event was accepted.
import { type Event, type Mark, type MarkName, type Metrics, markName, type Text } from '../../event/event.ts'
import { formatStampNs, timeUs } from '../../event/stamp.ts'
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
    default:
      throw new Error(`InfluxDB has no measurement for events of the kind ${(event satisfies Text).kind}`)
  }
}

function markLine(event: Mark): string {
  const { account, process, meta, uid, stamp } = event
  const mark = markName(event)
  const pair = uid === '' ? NO_UID_PAIR[mark] : pairOf(uid, mark)
  return (
    `mark,account=${lineEscape.tag(account)},mark=${mark}${metaTag(meta)},process=${lineEscape.tag(process)} ` +
    `at=${timeUs(stamp)}000i,pair=${pair}i,uid=${lineEscape.quoted(uid)} ${formatStampNs(stamp)}`
  )
}

function pushMetricLines(lines: string[], { account, process, meta, uid, items, stamp }: Metrics): void {
  const head = `metric,account=${lineEscape.tag(account)}${metaTag(meta)},name=`
  // without uid there is no field: empty strings shift the columns of a Flux answer
  const uidField = uid === undefined ? '' : `uid=${lineEscape.quoted(uid)},`
  const middle = `,process=${lineEscape.tag(process)} ${uidField}value=`
  const ns = formatStampNs(stamp)
  for (const [name, value] of items) lines.push(`${head}${lineEscape.tag(name)}${middle}${value} ${ns}`)
}

const metaTag = (meta: string): string => (meta === '' ? '' : `,meta=${lineEscape.tag(meta)}`)

/** With 2 for a failed end the differences would be ambiguous: from an end to a failed one it would be +1 too. */
const M: Readonly<Record<MarkName, bigint>> = { start: 0n, end: 1n, failed: 3n }

/**
 * 4·h + m, h the low 60 bits of XXH64(uid) as two's complement, m = 0 for a start, 1 for an end, 3 for a failed end.
 * By uid and time, neighbours differ by +1 for a start and its end, +3 for a start and its failed end, 0 for a repeat.
 */
export function pairOf(uid: string, mark: MarkName): bigint {
  return BigInt.asIntN(60, Bun.hash.xxHash64(uid)) * 4n + M[mark]
}

const NO_UID_PAIR = { start: pairOf('', 'start'), end: pairOf('', 'end'), failed: pairOf('', 'failed') }
