// The messages of OTLP 1.x, as far as Stint reads them: field numbers of opentelemetry-proto, names of its JSON form.
import type { Message } from './read-protobuf.ts'

const many = true
const anyValue = (): Message => ANY_VALUE
const keyValue = (): Message => KEY_VALUE

const ANY_VALUE: Message = {
  1: { name: 'stringValue', as: 'text' },
  2: { name: 'boolValue', as: 'bool' },
  3: { name: 'intValue', as: 'int' },
  4: { name: 'doubleValue', as: 'double' },
  5: { name: 'arrayValue', as: () => ({ 1: { name: 'values', as: anyValue, many } }) },
  6: { name: 'kvlistValue', as: () => ({ 1: { name: 'values', as: keyValue, many } }) },
}
const KEY_VALUE: Message = { 1: { name: 'key', as: 'text' }, 2: { name: 'value', as: anyValue } }
const RESOURCE: Message = { 1: { name: 'attributes', as: keyValue, many } }

/** Resources, scopes in them, and what they hold. */
const request = (signal: string, scoped: string, items: string, item: () => Message): Message => ({
  1: {
    name: `resource${signal}`,
    many,
    as: () => ({
      1: { name: 'resource', as: () => RESOURCE },
      2: { name: `scope${scoped}`, many, as: () => ({ 2: { name: items, as: item, many } }) },
    }),
  },
})

const SPAN: Message = {
  2: { name: 'spanId', as: 'hex' },
  4: { name: 'parentSpanId', as: 'hex' },
  5: { name: 'name', as: 'text' },
  7: { name: 'startTimeUnixNano', as: 'fixed64' },
  8: { name: 'endTimeUnixNano', as: 'fixed64' },
  9: { name: 'attributes', as: keyValue, many },
  11: {
    name: 'events',
    many,
    as: () => ({
      1: { name: 'timeUnixNano', as: 'fixed64' },
      2: { name: 'name', as: 'text' },
      3: { name: 'attributes', as: keyValue, many },
    }),
  },
  15: { name: 'status', as: () => ({ 3: { name: 'code', as: 'int' } }) },
}

const LOG_RECORD: Message = {
  1: { name: 'timeUnixNano', as: 'fixed64' },
  2: { name: 'severityNumber', as: 'int' },
  5: { name: 'body', as: anyValue },
  6: { name: 'attributes', as: keyValue, many },
  10: { name: 'spanId', as: 'hex' },
  11: { name: 'observedTimeUnixNano', as: 'fixed64' },
}

const NUMBERS: Message = {
  1: {
    name: 'dataPoints',
    many,
    as: () => ({
      3: { name: 'timeUnixNano', as: 'fixed64' },
      4: { name: 'asDouble', as: 'double' },
      6: { name: 'asInt', as: 'sfixed64' },
      7: { name: 'attributes', as: keyValue, many },
    }),
  },
}
/** Only counted. */
const OTHER_POINTS: Message = { 1: { name: 'dataPoints', as: () => ({}), many } }

const METRIC: Message = {
  1: { name: 'name', as: 'text' },
  5: { name: 'gauge', as: () => NUMBERS },
  7: { name: 'sum', as: () => NUMBERS },
  9: { name: 'histogram', as: () => OTHER_POINTS },
  10: { name: 'exponentialHistogram', as: () => OTHER_POINTS },
  11: { name: 'summary', as: () => OTHER_POINTS },
}

export const TRACES = request('Spans', 'Spans', 'spans', () => SPAN)
export const LOGS = request('Logs', 'Logs', 'logRecords', () => LOG_RECORD)
export const METRICS = request('Metrics', 'Metrics', 'metrics', () => METRIC)
