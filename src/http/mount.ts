// Mounts a route of src/wire: who may ask, its description, and an answer with the status and the type that the route declares.
import type { Static, TSchema } from '@sinclair/typebox'
import type { Elysia } from 'elysia'
import type { Route } from '../wire/route.ts'
import { emptyAnswer, jsonAnswer } from './answers.ts'
import { describeRoute } from './docs/describe-route.ts'

type NamesOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

interface Asked<R extends Route> {
  readonly request: Request
  readonly params: Readonly<Record<NamesOf<R['path']>, string>>
}

// biome-ignore lint/suspicious/noConfusingVoidType: the handler of a 204 returns nothing
type BodyOf<Answer> = Answer extends { readonly body: { readonly schema: infer S extends TSchema } } ? Static<S> : void
/** The body of the route's answer, nothing for 204, or a whole Response. */
type AnswerTo<R extends Route> = BodyOf<R['answers'][keyof R['answers']]> | Response

/** Adds routes to `app`, each with its handler. `judge` runs first and throws a Problem when the request may not ask; what it returns is handed on. */
export const createMount =
  <Asker>(app: Elysia, judge: (request: Request) => Asker | Promise<Asker>) =>
  <const R extends Route>(
    route: R,
    handle: (asker: Asker, asked: Asked<R>) => AnswerTo<R> | Promise<AnswerTo<R>>,
  ): void => {
    const status = Number(Object.keys(route.answers)[0])
    const answer = async ({ request, params }: { request: Request; params: object }) => {
      const body = await handle(await judge(request), { request, params: params as Asked<R>['params'] })
      if (body instanceof Response) return body
      return body === undefined ? emptyAnswer() : jsonAnswer(body as object, status)
    }
    app.route(route.method, route.path, answer, describeRoute(route) as never)
  }
