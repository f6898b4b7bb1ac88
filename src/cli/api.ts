// Requests to the server. Every fault becomes a CliError that says what to do, in the server's words where there are
// some.
import type { ProblemBody } from '../wire/problem.ts'
import { readCliConfig } from './config.ts'
import { describeFetchFault } from './fetch-fault.ts'
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'
import { oneLine } from './safe-text.ts'

const TIMEOUT_MS = 30_000

export type Api = ReturnType<typeof createApi>

/**
 * A refusal in the server's words; `code` is one of src/problem.ts. An invalid parameter of a question is a usage
 * error: it came from a flag.
 */
export class Refusal extends CliError {
  constructor(
    message: string,
    readonly code: string | undefined,
  ) {
    super(message, code === 'question_invalid' ? EXIT_USAGE : EXIT_REFUSED)
  }
}

/** Requests resolve to the body of the answer; undefined if it has none. */
export function createApi(io: Io, config = readCliConfig(io.env)) {
  const { url } = config

  async function ask<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await send(method, path, body, headers)
    const text = await response.text().catch((cause) => {
      throw new CliError(`connection to ${url} lost before the end of its answer`, EXIT_REFUSED, { cause })
    })
    const isJson = /^application\/(?:problem\+)?json\b/.test(response.headers.get('content-type') ?? '')
    const parsed = isJson ? parse(text) : undefined
    // A question has no body: its faults are in flags.
    if (!response.ok) throw refusal(response, parsed as Partial<ProblemBody> | undefined, method === 'GET' ? '--' : '')
    if (text !== '' && parsed === undefined) throw notStint(response.status)
    return { body: parsed as T, cookie: cookieOf(response) }
  }

  async function send(method: string, path: string, body: unknown, headers: Record<string, string>) {
    try {
      return await io.fetch(url + path, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
    } catch (cause) {
      const why =
        (cause as Error).name === 'TimeoutError' ? `no answer within ${TIMEOUT_MS / 1000} s` : describeFetchFault(cause)
      throw new CliError(`cannot reach Stint at ${url} (${why}); is it running, and is STINT_URL right?`, 1, { cause })
    }
  }

  function parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new CliError(`invalid JSON in the answer of ${url}`, EXIT_REFUSED, { cause })
    }
  }

  const notStint = (status: number) =>
    new CliError(`the server at ${url} is not Stint (status ${status}); is STINT_URL right?`)

  function refusal(response: Response, problem: Partial<ProblemBody> | undefined, flag: string): CliError {
    if (problem?.title === undefined) return notStint(response.status)
    const lines = [`${oneLine(problem.title)}. ${oneLine(problem.detail ?? '')}`.trim()]
    for (const { pointer, detail } of problem.errors ?? []) {
      const named = flag === '' ? oneLine(pointer) : oneLine(pointer).replaceAll('_', '-')
      lines.push(`  ${named.replace(/^\//, flag) || 'the request'} ${oneLine(detail)}`)
    }
    if (problem.code === 'key_invalid')
      lines.push(`  ${url} does not know this key: run stint login, or set STINT_API_KEY.`)
    if (problem.code === 'scope_missing')
      lines.push('  Use a key that may; stint login makes one that may write, read and manage.')
    const retryAfter = response.headers.get('retry-after')
    if (retryAfter !== null) lines.push(`  Try again in ${oneLine(retryAfter)} s.`)
    return new Refusal(lines.join('\n'), problem.code)
  }

  return {
    /** Without a key; with a session if one is given. Also the session that the answer set. */
    ask: <T>(method: string, path: string, body?: unknown, as?: { readonly cookie: string }) =>
      ask<T>(method, path, body, as && { cookie: as.cookie }),
    /** With the API key. Throws CliError without one. */
    async askWithKey<T>(method: string, path: string, body?: unknown) {
      if (config.apiKey === undefined)
        throw new CliError(`no API key for ${url}: run stint login, or set STINT_API_KEY`)
      return (await ask<T>(method, path, body, { [config.keyHeader]: config.apiKey })).body
    },
    /** Notes on what does not work, and `refused` if no event is accepted. Throws CliError where there is no Stint. */
    async readiness(): Promise<{ readonly notes: readonly string[]; readonly refused?: CliError }> {
      const response = await send('GET', '/readyz', undefined, {})
      const [first, ...notes] = (await response.text()).trimEnd().split('\n')
      if (response.status === 200 && first === 'ready') return { notes }
      const problem = response.status < 500 ? undefined : (parse(first ?? '') as Partial<ProblemBody>)
      const refused = refusal(response, problem, '')
      if (problem?.title === undefined) throw refused
      return { notes: [], refused }
    },
  }
}

/** Name and value, as they are sent back. */
const cookieOf = (response: Response): string | undefined => response.headers.get('set-cookie')?.split(';')[0]

export interface Page {
  readonly rows: readonly unknown[]
  /** Null on the last page; undefined where there are no pages. */
  readonly next: string | null | undefined
  readonly answer: Readonly<Record<string, unknown>>
}

/**
 * A question's answer page by page: the first page, or all. `list` is the member of the answer that holds the rows. A
 * cursor fixes the range of the first page, so no row is skipped or repeated. Throws CliError.
 */
export async function* askPages(
  api: Api,
  path: string,
  list: string,
  parameters: URLSearchParams,
  isAll: boolean,
): AsyncGenerator<Page> {
  const query = new URLSearchParams(parameters)
  for (;;) {
    const search = query.toString()
    const answer = await api.askWithKey<Record<string, unknown>>('GET', search === '' ? path : `${path}?${search}`)
    const { [list]: rows, next } = answer
    if (!Array.isArray(rows)) throw new CliError('the answer is not one of Stint; is STINT_URL right?')
    const cursor = typeof next === 'string' ? next : next === undefined ? undefined : null
    yield { rows, next: cursor, answer }
    if (!isAll || typeof cursor !== 'string') return
    query.set('cursor', cursor)
  }
}
