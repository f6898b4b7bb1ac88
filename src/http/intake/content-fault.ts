// Whether a body comes in a content type and a coding that its path takes.
import type { SentKind } from '../../event/event.ts'
import { Problem } from '../../problem.ts'
import { PROTOBUF } from '../../wire/other-protocols.ts'

export interface BodyRules {
  readonly kind: SentKind | undefined
  readonly contentTypes: readonly string[]
  /** Content codings a body may come in, `identity` aside. */
  readonly codings: readonly string[]
}

/** An exporter that is given the address without `/otlp` sends its metrics to a path that Stint has, too. */
export const OTLP_METRICS_PLACE = ' OpenTelemetry’s metrics are taken at /otlp/v1/metrics.'

const UTF8_ONLY = /^\s*charset\s*=\s*(?:utf-8|"utf-8")\s*$/i

export function findContentFault(headers: Headers, rules: BodyRules): Problem | undefined {
  const { contentTypes, codings } = rules
  const sent = headers.get('content-type') ?? ''
  if (!contentTypes.includes(sent)) {
    const [type = '', ...parameters] = sent.split(';')
    if (
      !contentTypes.includes(type.trim().toLowerCase()) ||
      parameters.length > 1 ||
      !parameters.every((p) => UTF8_ONLY.test(p))
    )
      return unsupported(`must be ${contentTypes.join(' or ')}, in UTF-8`, rules, sent)
  }
  const coding = headers.get('content-encoding')
  if (coding === null || coding.toLowerCase() === 'identity' || codings.includes(coding.toLowerCase())) return undefined
  const detail =
    codings.length === 0
      ? 'must come without content-encoding; /v1/batch takes gzip and zstd'
      : `must have the content-encoding ${codings.join(' or ')}, or none`
  return unsupported(detail, rules, sent)
}

function unsupported(detail: string, { kind }: BodyRules, sent: string): Problem {
  const place = kind === 'metrics' && sent.startsWith(PROTOBUF) ? OTLP_METRICS_PLACE : ''
  return new Problem('content_type_unsupported', `The body is of a type that is not accepted.${place}`, {
    errors: [{ pointer: '', detail }],
  })
}
