// Turns OTLP into the events of `/v1/batch`. A span is a run: process from service and span name, uid from the span id,
// an ERROR status is a failed end. Only root spans and spans with `stint.process` are runs: a whole trace would flood
// the store. Log records from ERROR on are exceptions; gauges and sums are metrics.
import { LIMITS } from '../../event/fields.ts'
import {
  anyText,
  atOf,
  attributeOf,
  attributesOf,
  content,
  cut,
  decimal,
  exceptionText,
  integer,
  type Json,
  member,
  members,
  text,
} from './otlp-messages.ts'

/** One span, record or data point, with its events; several data points may share an event. */
export interface Translated {
  readonly bodies: readonly Json[]
  /** How many items of OTLP they replace. */
  readonly items: number
  /** Why it cannot be translated. */
  readonly fault?: string
}

/** In place of items that are no events. */
const SKIPPED: Translated = { bodies: [], items: 0 }

/** Enums are numbers; some encoders write their names. */
const isStatusError = (code: unknown) => code === 'STATUS_CODE_ERROR' || integer(code) === 2n
const UNSPECIFIED = /^(?:|0|SEVERITY_NUMBER_UNSPECIFIED)$/
const ERROR_TEXT = /^(?:err(?:or)?|severe|fatal|crit(?:ical)?|alert|emerg(?:ency)?|(?:d?)panic)[2-4]?$/i
const OTHER_TEXT = /^(?:trace|debug|verbose|info(?:rmation)?|notice|warn(?:ing)?)[2-4]?$/i

/** By the number, else by the text, in the names that loggers use; undefined if neither says. */
function severityOf({ severityNumber, severityText }: Json): 'error' | 'less' | undefined {
  const number = integer(severityNumber)
  if (UNSPECIFIED.test(text(severityNumber)) && (number ?? 0n) === 0n) {
    const named = text(severityText).trim()
    return ERROR_TEXT.test(named) ? 'error' : OTHER_TEXT.test(named) ? 'less' : undefined
  }
  return /^SEVERITY_NUMBER_(ERROR|FATAL)[2-4]?$/.test(text(severityNumber)) || (number ?? 0n) >= 17n ? 'error' : 'less'
}

interface Scoped {
  readonly service: string
  /** Attributes of the resource. */
  readonly resource: unknown
  readonly item: Json
  readonly pointer: string
}

/** All that throws ShapeError. */
function* walk(request: Json, signal: string, items: string): Generator<Scoped> {
  const [resources, scopes] = [`resource${signal}`, `scope${signal}`]
  for (const [i, entry] of content(request, resources, '').entries()) {
    const inEntry = `/${resources}/${i}`
    const resource = member(entry, 'resource', inEntry).attributes
    const name = attributeOf(resource, 'service.name') ?? ''
    const service = name.startsWith('unknown_service') ? '' : name
    for (const [j, scope] of content(entry, scopes, inEntry).entries()) {
      const inScope = `${inEntry}/${scopes}/${j}`
      for (const [k, item] of content(scope, items, inScope).entries())
        yield { service, resource, item, pointer: `${inScope}/${items}/${k}` }
    }
  }
}

/** `stint.process` and `stint.meta` of the item or its resource come first. */
function subjectOf({ service, resource, item }: Scoped, name: string) {
  const own = attributeOf(item.attributes, 'stint.process')
  const named = service === '' || name === '' ? service + name : `${service} ${name}`
  const process =
    own ??
    attributeOf(resource, 'stint.process') ??
    (named || attributeOf(resource, 'service.name') || 'unknown_service')
  const meta = attributeOf(item.attributes, 'stint.meta') ?? attributeOf(resource, 'stint.meta')
  return { own, subject: { process: cut(process, LIMITS.process), ...(meta && { meta: cut(meta, LIMITS.meta) }) } }
}

const isEmptyId = (id: unknown) => /^0*$/.test(text(id))

export function* spansToEvents(request: Json): Generator<Translated> {
  for (const scoped of walk(request, 'Spans', 'spans')) yield spanToEvents(scoped)
}

function spanToEvents(scoped: Scoped): Translated {
  const { item, pointer } = scoped
  const events = members(item, 'events', pointer)
  const status = member(item, 'status', pointer)
  const { own, subject } = subjectOf(scoped, text(item.name))
  if (own === undefined && !isEmptyId(item.parentSpanId)) return SKIPPED
  const [startedAt, endedAt] = [atOf(item.startTimeUnixNano), atOf(item.endTimeUnixNano)]
  if (startedAt === undefined || endedAt === undefined || isEmptyId(item.spanId))
    return { bodies: [], items: 1, fault: `a span needs an id, a start and an end${otherNames(item)}` }
  if (endedAt < startedAt) return { bodies: [], items: 1, fault: 'a span is refused: its end is before its start' }
  const run = { ...subject, uid: text(item.spanId).toLowerCase() }
  const failed = isStatusError(status.code)
  const raised = exceptionsOf(events, endedAt)
  const described = failed && raised.length === 0 ? text(status.message).trim() : ''
  if (described !== '') raised.push({ exception: cut(described, LIMITS.exception), at: endedAt })
  return {
    items: 1,
    bodies: [
      { kind: 'start', ...run, at: startedAt },
      ...raised.map((one) => ({ kind: 'exception', ...run, ...one })),
      { kind: 'end', ...run, ...(failed && { failed }), at: endedAt },
    ],
  }
}

/** Names in snake_case are those of protobuf, not of its JSON. */
function otherNames(item: Json): string {
  const name = Object.keys(item).find((key) => key.includes('_'))
  return name === undefined ? '' : `; ${cut(name, 40)} is not known, names are in lowerCamelCase`
}

const exceptionsOf = (events: readonly Json[], endedAt: string) =>
  events
    .filter(({ name }) => name === 'exception')
    .map(({ timeUnixNano, attributes }) => ({
      exception: cut(exceptionText(attributesOf(attributes)) ?? 'exception', LIMITS.exception),
      at: atOf(timeUnixNano) ?? endedAt,
    }))

export function* logsToEvents(request: Json): Generator<Translated> {
  for (const scoped of walk(request, 'Logs', 'logRecords')) yield recordToEvents(scoped)
}

function recordToEvents(scoped: Scoped): Translated {
  const { item } = scoped
  const raised = exceptionText(attributesOf(item.attributes))
  const severity = severityOf(item)
  if (raised === undefined && severity === 'less') return SKIPPED
  if (raised === undefined && severity === undefined)
    return { bodies: [], items: 1, fault: 'a log record without an exception needs a severity, as a number or a text' }
  const said = saidBy(raised, anyText(member(item, 'body', scoped.pointer)), text(item.eventName))
  if (said === undefined)
    return {
      bodies: [],
      items: 1,
      fault: `a log record needs a text: a body, exception.message or an event name${otherNames(item)}`,
    }
  const at = atOf(item.timeUnixNano) ?? atOf(item.observedTimeUnixNano)
  const uid = isEmptyId(item.spanId) ? {} : { uid: text(item.spanId).toLowerCase() }
  const exception = cut(said, LIMITS.exception)
  const { subject } = subjectOf(scoped, '')
  return { items: 1, bodies: [{ kind: 'exception', ...subject, ...uid, exception, ...(at && { at }) }] }
}

/** A message logged with an exception is put above it; this length leaves room for the exception. */
const BODY_MAX = 1000
function saidBy(raised: string | undefined, body: string, eventName: string): string | undefined {
  const logged = body.trim()
  if (raised?.trim()) return logged === '' || raised.includes(logged) ? raised : `${cut(logged, BODY_MAX)}\n${raised}`
  return logged === '' ? (eventName.trim() === '' ? undefined : eventName) : body
}

/** Data points of one process and time share an event. */
export function* pointsToEvents(request: Json): Generator<Translated> {
  const events = new Map<
    string,
    { readonly subject: Json; readonly at: string; readonly points: Map<string, number> }[]
  >()
  for (const scoped of walk(request, 'Metrics', 'metrics')) {
    const { item, pointer } = scoped
    const pointsIn = (kind: string) => members(member(item, kind, pointer), 'dataPoints', `${pointer}/${kind}`)
    const numbers = [...pointsIn('gauge'), ...pointsIn('sum')]
    const others = ['histogram', 'exponentialHistogram', 'summary'].flatMap(pointsIn)
    if (others.length > 0) yield { bodies: [], items: others.length, fault: 'only gauges and sums are taken' }
    for (const point of numbers) {
      const { subject } = subjectOf({ ...scoped, item: point }, '')
      const at = atOf(point.timeUnixNano)
      const value = decimal(point.asDouble) ?? Number(integer(point.asInt) ?? Number.NaN)
      if (at === undefined || !Number.isFinite(value)) {
        yield { bodies: [], items: 1, fault: `a data point needs a time and a finite value${otherNames(point)}` }
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
