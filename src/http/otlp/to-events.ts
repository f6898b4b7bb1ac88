// Turns OTLP into the events of `/v1/batch`. A span is a run: process from service and span name, uid from the span id,
// an ERROR status is a failed end. Only root spans and spans with `stint.process` are runs: a whole trace would flood
// the store. Log records from ERROR on are exceptions; gauges and sums are metrics.
import { LIMITS } from '../../event/fields.ts'
import {
  anyText,
  atOf,
  attributesOf,
  cut,
  exceptionText,
  integer,
  type Json,
  list,
  object,
  text,
} from './otlp-messages.ts'

/** One span, record or data point, with its events; several data points may share an event. */
export interface Translated {
  readonly bodies: Iterable<Json>
  /** How many items of OTLP they replace. */
  readonly items: number
  /** Why it cannot be translated. */
  readonly fault?: string
}

/** In place of items that are no events: the caller may pause at each. */
const SKIPPED: Translated = { bodies: [], items: 0 }

/** Enums are numbers; some encoders write their names. */
const isStatusError = (code: unknown) => code === 'STATUS_CODE_ERROR' || integer(code) === 2n
const isSeverityError = (severity: unknown) =>
  /^SEVERITY_NUMBER_(ERROR|FATAL)[2-4]?$/.test(text(severity)) || (integer(severity) ?? 0n) >= 17n

interface Scoped {
  readonly service: string
  /** Attributes of the resource. */
  readonly resource: ReadonlyMap<string, string>
  readonly item: Json
}

function* walk(request: Json, signal: string, items: string): Generator<Scoped> {
  for (const entry of list(request[`resource${signal}`])) {
    const resource = attributesOf(object(entry.resource).attributes)
    const name = resource.get('service.name') ?? ''
    const service = /^unknown_service/.test(name) ? '' : name
    for (const scope of list(entry[`scope${signal}`]))
      for (const item of list(scope[items])) yield { service, resource, item }
  }
}

/** `stint.process` and `stint.meta` of the item or its resource come first. */
function subjectOf({ service, resource, item }: Scoped, name: string) {
  const own = attributesOf(item.attributes)
  const pick = (key: string) => own.get(key) ?? resource.get(key)
  const named = [service, name].filter((part) => part !== '').join(' ')
  const process = pick('stint.process') ?? (named || resource.get('service.name') || 'unknown_service')
  const meta = pick('stint.meta')
  return { own, subject: { process: cut(process, LIMITS.process), ...(meta && { meta: cut(meta, LIMITS.meta) }) } }
}

const isEmptyId = (id: unknown) => /^0*$/.test(text(id))

export function* spansToEvents(request: Json): Generator<Translated> {
  for (const scoped of walk(request, 'Spans', 'spans')) {
    const { item } = scoped
    const { own, subject } = subjectOf(scoped, text(item.name))
    if (!isEmptyId(item.parentSpanId) && !own.has('stint.process')) {
      yield SKIPPED
      continue
    }
    const [startedAt, endedAt] = [atOf(item.startTimeUnixNano), atOf(item.endTimeUnixNano)]
    if (startedAt === undefined || endedAt === undefined || isEmptyId(item.spanId)) {
      yield { bodies: [], items: 1, fault: 'a span needs an id, a start and an end' }
      continue
    }
    if (endedAt < startedAt) {
      yield { bodies: [], items: 1, fault: 'a span is refused: its end is before its start' }
      continue
    }
    const run = { ...subject, uid: text(item.spanId).toLowerCase() }
    yield { items: 1, bodies: spanToBodies(item, run, startedAt, endedAt) }
  }
}

/** A generator, as a span of 8 MiB has up to a hundred thousand exceptions. */
function* spanToBodies(span: Json, run: Json, startedAt: string, endedAt: string): Generator<Json> {
  yield { kind: 'start', ...run, at: startedAt }
  for (const { name, timeUnixNano, attributes } of list(span.events)) {
    if (name !== 'exception') continue
    const exception = cut(exceptionText(attributesOf(attributes)) ?? name, LIMITS.exception)
    yield { kind: 'exception', ...run, exception, at: atOf(timeUnixNano) ?? endedAt }
  }
  const failed = isStatusError(object(span.status).code)
  yield { kind: 'end', ...run, ...(failed && { failed }), at: endedAt }
}

export function* logsToEvents(request: Json): Generator<Translated> {
  for (const scoped of walk(request, 'Logs', 'logRecords')) {
    const { item } = scoped
    const { own, subject } = subjectOf(scoped, '')
    const raised = exceptionText(own)
    if (raised === undefined && !isSeverityError(item.severityNumber)) {
      yield SKIPPED
      continue
    }
    const said = [raised, anyText(object(item.body)), text(item.eventName)].find((it) => it?.trim())
    if (said === undefined) {
      yield { bodies: [], items: 1, fault: 'a log record needs a text: a body, exception.message or an event name' }
      continue
    }
    const at = atOf(item.timeUnixNano) ?? atOf(item.observedTimeUnixNano)
    const uid = isEmptyId(item.spanId) ? {} : { uid: text(item.spanId).toLowerCase() }
    const exception = cut(said, LIMITS.exception)
    yield { items: 1, bodies: [{ kind: 'exception', ...subject, ...uid, exception, ...(at && { at }) }] }
  }
}

/** Data points of one process and time share an event. */
export function* pointsToEvents(request: Json): Generator<Translated> {
  const events = new Map<
    string,
    { readonly subject: Json; readonly at: string; readonly points: Map<string, number> }[]
  >()
  for (const scoped of walk(request, 'Metrics', 'metrics')) {
    const { item } = scoped
    const numbers = [...list(object(item.gauge).dataPoints), ...list(object(item.sum).dataPoints)]
    const others = ['histogram', 'exponentialHistogram', 'summary'].flatMap((kind) =>
      list(object(item[kind]).dataPoints),
    )
    if (others.length > 0) yield { bodies: [], items: others.length, fault: 'only gauges and sums are taken' }
    for (const point of numbers) {
      yield SKIPPED // it will be part of an event
      const { subject } = subjectOf({ ...scoped, item: point }, '')
      const at = atOf(point.timeUnixNano)
      const value = typeof point.asDouble === 'number' ? point.asDouble : Number(integer(point.asInt) ?? Number.NaN)
      if (at === undefined || !Number.isFinite(value)) {
        yield { bodies: [], items: 1, fault: 'a data point needs a time and a finite value' }
        continue
      }
      const key = `${at} ${JSON.stringify(subject)}`
      const group = events.get(key) ?? []
      if (group.length === 0) events.set(key, group)
      const name = nameOf(item, point)
      let event = group.at(-1)
      if (event === undefined || event.points.size === LIMITS.items || event.points.has(name)) {
        event = { subject, at, points: new Map() }
        group.push(event)
      }
      event.points.set(name, value)
    }
  }
  for (const { subject, at, points } of [...events.values()].flat()) {
    const items = Object.fromEntries(points)
    yield { items: points.size, bodies: [{ kind: 'metrics', ...subject, items, at }] }
  }
}

/** Series of one metric differ by their attributes, so they are part of the name. */
function nameOf(metric: Json, point: Json): string {
  const attributes = [...attributesOf(point.attributes)]
    .filter(([key]) => !key.startsWith('stint.'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
  const name = text(metric.name) + (attributes.length > 0 ? `{${attributes.join(',')}}` : '')
  return cut(name.replace(/['"%\u0000-\u001f\u007f\\]/g, '_'), LIMITS.name)
}
