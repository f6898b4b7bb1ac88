// Addresses of other products, and where to go instead: a client of theirs that is pointed at Stint gets more than that
// there is no such path. In the order of the table; the first that matches counts.

interface ForeignPath {
  readonly pattern: RegExp
  /** Names the product's path and Stint's own way. */
  readonly sentence: string
  readonly page: string
}

const HTTP = 'src/http/README.md#writing'
const PING = 'src/client/README.md#ping-addresses'
const OTEL = 'src/client/README.md#opentelemetry'
const EXCEPTION = 'Send exceptions to /v1/exception.'
const METRICS = 'Send metrics to /v1/metrics as JSON.'

export const FOREIGN_PATHS: readonly ForeignPath[] = [
  {
    pattern: /^\/(?:write|query|api\/v2\/(?:write|query)|api\/v3\/(?:write_lp|write|query_sql|query_influxql|query))$/,
    sentence: `InfluxDB’s line protocol and queries are not spoken here. ${METRICS}`,
    page: HTTP,
  },
  {
    pattern: /^\/metrics\/job(?:@base64)?\//,
    sentence: `Prometheus’ Pushgateway is not spoken here. ${METRICS}`,
    page: 'src/coming-from/pushgateway.md',
  },
  {
    pattern: /^\/(?:api\/(?:v1|prom)\/(?:write|push)|prometheus\/.*|api\/v1\/(?:query|query_range))$/,
    sentence:
      'Prometheus’ remote write and queries are not spoken here. Prometheus scrapes /metrics and /api/prometheus.',
    page: 'src/deploy/README.md#processes-in-prometheus',
  },
  {
    pattern: /^\/api\/[^/]+\/cron\/[^/]+\/[^/]+\/?$/,
    sentence: 'A check-in of Sentry goes to /ping/TOKEN/PROCESS with the same parameters.',
    page: 'src/coming-from/sentry-crons.md',
  },
  {
    pattern: /^\/api\/\d+\/(?:envelope|store|security|minidump)\/?$/,
    sentence: `Sentry’s envelopes are not taken. ${EXCEPTION}`,
    page: 'src/coming-from/sentry-crons.md',
  },
  { pattern: /^\/loki\/|^\/api\/prom\//, sentence: `Loki’s logs are not taken. ${EXCEPTION}`, page: HTTP },
  {
    pattern: /^\/(?:[^/]+\/)?(?:_bulk|_doc|_create|_search|_msearch)(?:\/|$)/,
    sentence: `Elasticsearch’s documents are not taken. ${EXCEPTION}`,
    page: HTTP,
  },
  {
    pattern: /^\/services\/collector(?:\/|$)/,
    sentence: `Splunk’s events are not taken. ${EXCEPTION}`,
    page: HTTP,
  },
  {
    pattern:
      /^\/(?:api\/v[12]\/(?:series|check_run|events|logs|distribution_points)|api\/beta\/sketches|intake)(?:\/|$)/,
    sentence: `Datadog’s agent is not spoken here. ${METRICS}`,
    page: HTTP,
  },
  {
    pattern: /^\/(?:start|end|exception|batch)\/?$/,
    sentence: 'The calls are below /v1: /v1/start, /v1/end, /v1/metrics, /v1/exception and /v1/batch.',
    page: HTTP,
  },
  {
    pattern: /^\/(?:traces|logs|opentelemetry\.proto\.collector\..*|api\/v2\/spans|api\/traces)\/?$/,
    sentence: 'OpenTelemetry is taken over HTTP at /otlp/v1/traces, /otlp/v1/logs and /otlp/v1/metrics.',
    page: OTEL,
  },
  {
    pattern: /^\/api\/v[123]\/(?:checks|channels|badges)\//,
    sentence: 'Healthchecks’ management API is not spoken here: stint import healthchecks reads its answers.',
    page: 'src/coming-from/healthchecks.md',
  },
  {
    pattern: /^\/api\/push\/|^\/api\/v1\/(?:endpoints\/[^/]+\/external|heartbeat\/)|^\/p\/[^/]+\/[^/]+|^\/ping\/?$/,
    sentence: 'A ping goes to /ping/TOKEN/PROCESS, with the same parameters.',
    page: PING,
  },
]

export function describeUnknownPath(path: string): string {
  const found = FOREIGN_PATHS.find(({ pattern }) => pattern.test(path))
  return found === undefined ? 'There is no such path.' : `There is no such path. ${found.sentence} See ${found.page}.`
}
