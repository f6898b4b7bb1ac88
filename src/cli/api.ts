// Asks the server. Whatever goes wrong becomes one CliError that tells a person what to do: the server's own words when it gave some.
import type { CliConfig } from './config.ts'
import { describeFetchFault } from './fetch-fault.ts'
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'
import { oneLine } from './one-line.ts'
import { createSessionFile } from './session-file.ts'

const TIMEOUT_MS = 30_000
const COOKIE = 'stint_session'

export interface Answer {
  readonly status: number
  /** undefined when the answer has no body. */
  readonly body: unknown
  /** The session that came with it. */
  readonly sessionToken: string | undefined
}

export interface Api {
  /** Without any proof of who asks. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>
  /** By the session that is kept for this server. Throws CliError when there is none or it has ended. */
  askSignedIn(method: string, path: string, body?: unknown): Promise<Answer>
  /** By the API key of the environment, or else by the session: for questions. */
  askWithKey(method: string, path: string, body?: unknown): Promise<Answer>
}

interface ProblemBody {
  readonly code?: string
  readonly title?: string
  readonly detail?: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[]
}

/** A refusal in the server's words; `code` is that of its table. The parameters of a question are flags: when they are wrong, so was the call. */
export class Refusal extends CliError {
  constructor(
    message: string,
    readonly code: string | undefined,
  ) {
    super(message, code === 'question_invalid' ? EXIT_USAGE : EXIT_REFUSED)
  }
}

export function createApi(config: CliConfig, io: Io): Api {
  const { url } = config
  const sessions = createSessionFile(config.sessionPath)

  async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await send(method, path, body, headers)
    const text = await response.text().catch((cause) => {
      throw new CliError(`${url} broke off its answer`, EXIT_REFUSED, { cause })
    })
    const isJson = /^application\/(?:problem\+)?json\b/.test(response.headers.get('content-type') ?? '')
    const parsed = isJson ? parse(text) : undefined
    // A question has no body: what is wrong with it came from a flag.
    if (!response.ok) throw refusal(response, parsed as ProblemBody | undefined, method === 'GET' ? '--' : '')
    if (text !== '' && parsed === undefined) throw notStint(response.status)
    return { status: response.status, body: parsed, sessionToken: tokenOf(response) }
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
      throw new CliError(`no Stint answers at ${url} (${why}). Is it running? STINT_URL says where it is.`, 1, {
        cause,
      })
    }
  }

  function parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new CliError(`the answer of ${url} is broken`, EXIT_REFUSED, { cause })
    }
  }

  const notStint = (status: number) => new CliError(`what answers at ${url} is not Stint (status ${status})`)

  function refusal(response: Response, problem: ProblemBody | undefined, flag: string): CliError {
    if (problem?.title === undefined) return notStint(response.status)
    const lines = [`${oneLine(problem.title)}. ${oneLine(problem.detail ?? '')}`.trim()]
    for (const { pointer, detail } of problem.errors ?? []) {
      lines.push(`  ${oneLine(pointer).replace(/^\//, flag) || 'the request'} ${oneLine(detail)}`)
    }
    const retryAfter = response.headers.get('retry-after')
    if (retryAfter !== null) lines.push(`  Try again in ${oneLine(retryAfter)} s.`)
    return new Refusal(lines.join('\n'), problem.code)
  }

  async function askSignedIn(method: string, path: string, body?: unknown): Promise<Answer> {
    const session = sessions.get(url)
    if (session === undefined) throw new CliError(`you are not signed in to ${url}: run stint account login first`)
    try {
      return await ask(method, path, body, { cookie: `${COOKIE}=${session.token}` })
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'session_invalid') throw error
      throw new CliError(`your session at ${url} has ended: run stint account login again`, EXIT_REFUSED, {
        cause: error,
      })
    }
  }

  return {
    ask: (method, path, body) => ask(method, path, body),
    askSignedIn,
    askWithKey: (method, path, body) =>
      config.apiKey === undefined
        ? askSignedIn(method, path, body)
        : ask(method, path, body, { [config.keyHeader]: config.apiKey }),
  }
}

const tokenOf = (response: Response): string | undefined =>
  new RegExp(`^(?:__Host-)?${COOKIE}=([^;]+)`).exec(response.headers.get('set-cookie') ?? '')?.[1]
