// Mounts routes of src/wire: access, the body by its declared schema, description, an answer with the declared status,
// an entry in the audit log. Order of checks: who may (401, 403) → size, content type, JSON, fields (413, 422)
// → who may once more, after the body arrived → the request itself.
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import type { Route } from '../wire/route.ts'
import { refuseStrangers } from './accounts/session-cookie.ts'
import { emptyAnswer, jsonAnswer } from './answers.ts'
import type { Asker, Authorize } from './authorize.ts'
import { describeRoute } from './docs/describe-route.ts'
import type { AnswerTags, MakeAnswer } from './questions/answer-tags.ts'
import { type Rules, readJson } from './read-json.ts'

type NamesOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** For the audit log: what was done to which thing. */
interface Noted {
  /** An id or an e-mail address; without it the id in the path, or in the answer. */
  target?: string
  detail?: string
}

type Read<Body> = Body extends { readonly 'application/json': { readonly schema: infer S extends TSchema } }
  ? Static<S>
  : undefined

interface Asked<R extends Route> {
  readonly request: Request
  readonly params: Readonly<Record<NamesOf<R['path']>, string>>
  readonly body: Read<R['body']>
  readonly noted: Noted
  /** Call it if the answer shows less than the account is, so that it must be asked again. */
  leaveUntagged(): void
}

// biome-ignore lint/suspicious/noConfusingVoidType: the handler of a 204 returns nothing
type BodyOf<Answer> = Answer extends { readonly body: { readonly schema: infer S extends TSchema } } ? Static<S> : void
/** The body of the route's answer, nothing for 204, or a whole Response. */
type AnswerTo<R extends Route> = BodyOf<R['answers'][keyof R['answers']]> | Response

/** Throws a Problem when the request may not ask; what it returns is handed on. */
type Judge<Who> = (request: Request, route: Route, isAgain?: boolean) => Who | Promise<Who>

/** Writes down what was done, after it was done. Never throws. */
export type NoteDone = (
  asker: Asker,
  done: Noted & { readonly action: NonNullable<Route['audit']>; readonly request: Request },
) => Promise<void>

type Handle<R extends Route, Who> = (who: Who, asked: Asked<R>) => AnswerTo<R> | Promise<AnswerTo<R>>

/** Adds a route with its handler. `rules`: those of its body that the schema cannot express. */
interface Mount<Who> {
  <const R extends Route>(route: R, handle: Handle<R, Who>): void
  <const R extends Route>(route: R, rules: Rules<Read<R['body']>>, handle: Handle<R, Who>): void
}

/** Ways to add a route, by who may call it. */
export interface Mounts {
  /** Everyone whom the access of the route admits. */
  readonly on: Mount<Asker>
  /** People without a session, on Stint's own pages. */
  readonly onStranger: Mount<void>
  /** Anyone, from everywhere. */
  readonly onAnyone: Mount<void>
}

interface MountDeps {
  readonly authorize: Authorize
  isOwnHost(request: Request): boolean
  /** PUBLIC_URL, if it is set. */
  readonly publicOrigin?: string | undefined
  readonly noteDone: NoteDone
  readonly tags?: AnswerTags
}

export const createMounts = (
  app: AnyElysia,
  { authorize, isOwnHost, publicOrigin, noteDone, tags }: MountDeps,
): Mounts => ({
  on: createMount(app, authorize, { noteDone, ...(tags && { withTag: tags.answer }) }),
  onStranger: createMount(app, (request) => refuseStrangers(request, isOwnHost, publicOrigin)),
  onAnyone: createMount(app, () => {}),
})

interface Extras<Who> {
  noteDone?(who: Who, done: Parameters<NoteDone>[1]): Promise<void>
  /** `make` calls what it gets when its answer may not have a tag. */
  withTag?(request: Request, who: Who, make: MakeAnswer): Promise<Response>
}

const createMount =
  <Who>(app: AnyElysia, judge: Judge<Who>, { noteDone, withTag }: Extras<Who> = {}): Mount<Who> =>
  (route: Route, ...more: [Handle<Route, Who>] | [Rules<object>, Handle<Route, Who>]) => {
    const [rules, handle] = more.length === 1 ? [{}, more[0]] : more
    const status = Number(Object.keys(route.answers)[0])
    const schema = route.body?.['application/json']?.schema as TObject | undefined
    const answer = async ({ request, params = {} }: { request: Request; params?: Record<string, string> }) => {
      const noted: Noted = {}
      let asker = await judge(request, route)
      const sent = schema && (await readJson(request, schema, rules, route.bodyMaxBytes))
      if (schema !== undefined) asker = await judge(request, route, true) // a session may have ended meanwhile
      const make: MakeAnswer = async (leaveUntagged) => {
        const input = { request, params: params as never, body: sent as never, noted, leaveUntagged }
        const body = await handle(asker, input)
        if (route.audit !== undefined && noteDone !== undefined) {
          const [id, name] = describeSubject(body)
          const target = noted.target ?? params.id ?? id
          const members = route.method === 'PATCH' && sent !== undefined ? [Object.keys(sent).join(', ')] : []
          const detail = noted.detail ?? (name && [name, ...members].join(': '))
          const done = { ...(target !== undefined && { target }), ...(detail !== undefined && { detail }) }
          await noteDone(asker, { ...done, action: route.audit, request })
        }
        if (body instanceof Response) return body
        return body === undefined ? emptyAnswer() : jsonAnswer(body as object, status)
      }
      return route.hasTag && withTag !== undefined ? withTag(request, asker, make) : make(() => {})
    }
    app.route(route.method, route.path, answer as never, describeRoute(route) as never)
  }

/** Id and name of what a body such as `{key: {id, name, …}}` holds. */
function describeSubject(body: unknown): [id?: string, name?: string] {
  if (typeof body !== 'object' || body === null) return []
  const [first] = Object.values(body) as ({ id?: unknown; name?: unknown; process?: unknown } | undefined)[]
  return [first?.id, first?.name ?? first?.process].map((value) => (typeof value === 'string' ? value : undefined)) as [
    string?,
    string?,
  ]
}
