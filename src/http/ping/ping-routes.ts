// Pings, as Healthchecks takes them. The token is a key's secret, good for nothing else, kept as a hash, never logged.
// Most cron lines ping only success: without a start that is a run of no length, not an orphan end. Open runs are known
// in memory; a ping with `rid` is taken for the end of its start also after a restart.
import { Elysia } from 'elysia'
import type { FoundKey } from '../../account/key-ring.ts'
import { DESTINATIONS, isMark } from '../../event/event.ts'
import { Faults } from '../../event/faults.ts'
import { LIMITS, stripText } from '../../event/fields.ts'
import { parseEvent } from '../../event/parse-event.ts'
import { type Fault, Problem } from '../../problem.ts'
import { decodeText } from '../../wire/decode-text.ts'
import { bodyTooLarge } from '../../wire/events.ts'
import { MAX_PING_BYTES, PING_BY_GET, PING_BY_POST } from '../../wire/other-protocols.ts'
import { createTextTail } from '../../wire/text-tail.ts'
import { uncachedHeaders } from '../answers.ts'
import { accountSuspended } from '../authorize.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { appendDraft, diskProblem } from '../intake/accept-event.ts'
import type { BatchDeps } from '../intake/batch-route.ts'
import { isSmall } from '../intake/body-budget.ts'
import { findLimit, type GateDeps } from '../intake/intake-gate.ts'
import { type Ping, readPing } from './read-ping.ts'
import { readBodyWords, readWords } from './read-words.ts'
import { type Body, toBodies } from './to-bodies.ts'

type PingDeps = BatchDeps &
  Pick<GateDeps, 'findKey' | 'limitBadKeys' | 'refusal' | 'quotaRefusal'> & {
    /** `names`: of the parameters that were refused. */
    noteRefusedPing(account: string, process: string, names: readonly string[]): void
  }

/** Memory for the end of a long body while it arrives; that much of each body is not counted. */
const TAIL_BYTES = 192 * 1024
/** Starts that are remembered; the oldest are forgotten first. */
const OPEN_MAX = 10_000
/** Added to a stamp: a second stamp of the same time. No store gets more than two events of one ping. */
const SECOND_TURN = 2
const OK = uncachedHeaders({ 'content-type': 'text/plain; charset=utf-8' })

const IS_MULTIPART = { pointer: '', detail: 'must not be multipart: put the words into the address, or use curl -d' }

/** Takes a ping by its address. Throws a Problem. */
type AcceptPing = (request: Request) => Promise<Response>

export function createPings(deps: PingDeps): AcceptPing {
  const open = new Set<string>()
  const recent = createRecentPings(deps.wallUs)

  function admit(request: Request, token: string): FoundKey {
    const key = deps.findKey(token, request)
    if (key?.ping !== true)
      throw (
        deps.limitBadKeys?.(request) ??
        new Problem('not_found', 'The token in the ping address is not a key with the scope ping.')
      )
    if (key.isSuspended) throw accountSuspended()
    const beyond = findLimit(key.account, DESTINATIONS, deps)
    if (beyond !== undefined) throw beyond
    return key
  }

  /** The process that is pinged: the one of the key, and no other if it has one. */
  function processOf({ process }: Ping, key: FoundKey): string {
    if (process === undefined ? key.process !== null : key.process === null || stripText(process) === key.process)
      return process ?? key.process!
    throw new Problem('not_found', 'The key in the ping address is for another process.')
  }

  async function accept(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const ping = readPing(pathname)
    if (typeof ping === 'string') throw new Problem('not_found', ping)
    const key = admit(request, ping.token)
    const { account } = key
    const process = processOf(ping, key)
    const body = await deps.bodies.during(account, (reserve) => {
      if (request.body !== null && !isSmall(request)) reserve(TAIL_BYTES)
      return readEnd(request)
    })
    const type = request.headers.get('content-type')
    // as text, the words of a failure in it would be a success
    if (ping.signal === undefined && type !== null && /^multipart\//i.test(type)) throw refused([IS_MULTIPART])
    const more = ping.signal === undefined ? readBodyWords(body, type) : undefined
    const words = readWords([...searchParams, ...(more ?? [])], ping)
    if (!('signal' in words)) {
      deps.noteRefusedPing(account, stripText(process), words.map(({ pointer }) => pointer.slice(1)).filter(Boolean))
      throw refused(words)
    }
    const said = more === undefined ? body.trimEnd() : ''
    const run = JSON.stringify([account, process, words.meta, words.uid])
    const { signal, exitCode, uid } = words
    const take = async () => {
      await append(toBodies({ process, words, said, isOpen: open.has(run) }), account)
      if (signal === 'start') remember(run)
      else if (signal !== 'log') open.delete(run)
    }
    // a run may log several times a minute
    const texts = signal === 'log' && [words.text, said]
    if (uid === '') await take()
    else
      await recent.once(JSON.stringify([run, signal, exitCode, words.metrics, words.durationUs ?? null, texts]), take)
    return new Response(request.method === 'HEAD' ? null : 'OK', { headers: OK })
  }

  function remember(run: string): void {
    open.delete(run)
    open.add(run)
    if (open.size > OPEN_MAX) open.delete(open.values().next().value!)
  }

  /** All are judged before the first is stored. `toBodies` gets the time of the ping in µs. */
  async function append(toBodies: (atUs: number) => readonly Body[], account: string): Promise<void> {
    const faults = new Faults()
    const arrival = deps.stamp()
    const drafts = toBodies(arrival.us).map((body) => parseEvent(body.kind, body, deps, faults, true))
    if (faults.list.length > 0)
      throw refused(faults.list.map(({ pointer, detail }) => ({ pointer: parameterOf(pointer), detail })))
    const spent = deps.quotaRefusal(
      account,
      drafts.some((draft) => isMark(draft!.kind)),
    )
    if (spent !== undefined) throw spent
    const commits: Promise<void>[] = []
    let marks = 0
    for (const draft of drafts) {
      // one time for all: a run that was only ended has no length; metrics share no series with marks
      const isFirst = draft!.kind === 'metrics' || marks++ === 0
      const stamp = isFirst ? arrival : { us: arrival.us, sub: arrival.sub + SECOND_TURN }
      const appended = appendDraft(draft!, account, stamp, deps)
      if (appended instanceof Problem) throw appended
      const { done, texts } = appended
      commits.push(
        done.then(() => {
          deps.countAccepted(draft!.kind, 1)
          for (const text of texts ?? []) deps.countAccepted(text.kind, 1)
        }),
      )
    }
    try {
      await Promise.all(commits)
    } catch (cause) {
      throw diskProblem(cause, commits.length)
    }
  }

  return accept
}

export const pingRoutes = (accept: AcceptPing) =>
  new Elysia({ normalize: false })
    .get(PING_BY_GET.path, ({ request }) => accept(request), { ...describeRoute(PING_BY_GET) })
    .post(PING_BY_POST.path, ({ request }) => accept(request), { parse: 'none', ...describeRoute(PING_BY_POST) })
    .head(PING_BY_GET.path, ({ request }) => accept(request), { detail: { hide: true } })

const refused = (errors: readonly Fault[]) =>
  new Problem('fields_invalid', 'The ping is invalid. Nothing is stored.', { errors })

/** The parameter that a field of an event came from. */
const parameterOf = (pointer: string): string =>
  ({ '/at': '/duration', '/meta': '/host' })[pointer] ?? pointer.replace(/^\/items.*/, '/metric')

/** The end of a body, which says most; the rest is read and dropped. Throws Problem `body_too_large`. */
async function readEnd(request: Request): Promise<string> {
  const { headers, body } = request
  if (body === null || isSmall(request)) return decodeText(await request.bytes())
  if (Number(headers.get('content-length') ?? 0) > MAX_PING_BYTES) throw bodyTooLarge(MAX_PING_BYTES)
  const end = createTextTail(LIMITS.exception)
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > MAX_PING_BYTES) throw bodyTooLarge(MAX_PING_BYTES)
    end.push(chunk)
  }
  return end.text()
}

// Pings with a `rid` that were accepted within the last minute. A client that got no answer sends its ping again, and
// that is the same event. Each node remembers its own, bounded, until it stops.

const SAME_US = 60_000_000
const PINGS_MAX = 10_000

/** `wallUs`: µs since the epoch. */
function createRecentPings(wallUs: () => number) {
  const recent = new Map<string, { readonly atUs: number; readonly accepted: Promise<void> }>()

  return {
    /** Accepts a ping unless the same one is being accepted or was a moment ago. One that failed is forgotten. */
    once(key: string, accept: () => Promise<void>): Promise<void> {
      const atUs = wallUs()
      const known = recent.get(key)
      if (known !== undefined && Math.abs(atUs - known.atUs) < SAME_US) return known.accepted
      const accepted = accept()
      const entry = { atUs, accepted }
      recent.delete(key)
      recent.set(key, entry)
      if (recent.size > PINGS_MAX) recent.delete(recent.keys().next().value!)
      accepted.catch(() => {
        if (recent.get(key) === entry) recent.delete(key)
      })
      return accepted
    },
  }
}
