// The questions and changes of /api with the types of their parameters and answers, which wire/ declares. Types
// only: no schema is in the bundle.
import type { Snippets } from '../../wire/snippets.ts'

type Wire =
  | typeof import('../../wire/accounts.ts')
  | typeof import('../../wire/alert-detail.ts')
  | typeof import('../../wire/alerts.ts')
  | typeof import('../../wire/audit.ts')
  | typeof import('../../wire/channels.ts')
  | typeof import('../../wire/dead-letters.ts')
  | typeof import('../../wire/disputes.ts')
  | typeof import('../../wire/exceptions.ts')
  | typeof import('../../wire/keys.ts')
  | typeof import('../../wire/maintenance.ts')
  | typeof import('../../wire/metrics.ts')
  | typeof import('../../wire/operations.ts')
  | typeof import('../../wire/operator.ts')
  | typeof import('../../wire/outputs.ts')
  | typeof import('../../wire/overview.ts')
  | typeof import('../../wire/people.ts')
  | typeof import('../../wire/process-notes.ts')
  | typeof import('../../wire/processes.ts')
  | typeof import('../../wire/sessions.ts')
  | typeof import('../../wire/timings.ts')
  | typeof import('../../wire/watch-preview.ts')
  | typeof import('../../wire/watches.ts')
type RoutesOf<M> = M extends M ? Extract<M[keyof M], { readonly method: string; readonly path: string }> : never
/** For everybody, and not in the API's document. */
interface SnippetsRoute {
  readonly method: 'GET'
  readonly path: '/clients/recipes'
  readonly answers: { readonly 200: { readonly body: { readonly schema: { readonly static: Snippets } } } }
}
type Route = RoutesOf<Wire> | SnippetsRoute

/** A path as the page writes it: relative, with any text in place of a parameter. */
type Written<P> = P extends `/${infer Rest}` ? Filled<Rest> : never
type Filled<P extends string> = P extends `${infer Head}:${infer Tail}`
  ? `${Head}${string}${Tail extends `${string}/${infer Rest}` ? `/${Filled<Rest>}` : ''}`
  : P
type PathOf<M extends string> = Written<Extract<Route, { readonly method: M }>['path']>
export type DeletePath = PathOf<'DELETE'> | `${PathOf<'DELETE'>}?${string}`
/** The route that a path names: itself, or else one with parameters that fits. */
type Named<M extends string, P extends string> = Extract<Route, { readonly method: M; readonly path: `/${P}` }>
type Fitting<M extends string, P extends string> =
  Extract<Route, { readonly method: M }> extends infer R
    ? R extends { readonly path: string }
      ? P extends Written<R['path']>
        ? R
        : never
      : never
    : never
type Found<M extends string, P extends string> = [Named<M, P>] extends [never] ? Fitting<M, P> : Named<M, P>

type AnswerOf<R> = R extends { readonly answers: infer A }
  ? {
      [S in keyof A]: A[S] extends { readonly body: { readonly schema: infer T extends { readonly static: unknown } } }
        ? T['static']
        : undefined
    }[keyof A]
  : never
type NameOf<R> =
  | (R extends { readonly parameters: readonly (infer N extends string)[] } ? N : never)
  | (R extends { readonly ownParameters: infer O } ? keyof O & string : never)

/** A list is sent as a parameter that is repeated. */
type Value = string | number | readonly string[] | undefined
export type Query<P extends string> = { readonly [N in NameOf<Found<'GET', P>>]?: Value }

export type Get = <P extends PathOf<'GET'>>(
  path: P,
  query?: Query<P>,
  signal?: AbortSignal,
) => Promise<AnswerOf<Found<'GET', P>>>

/** The body is checked by the server, whose errors stand at the fields of a form. */
export type Send = <M extends 'POST' | 'PUT' | 'PATCH' | 'DELETE', P extends PathOf<M> | `${PathOf<M>}?${string}`>(
  method: M,
  path: P,
  body?: object,
) => Promise<AnswerOf<Found<M, P extends `${infer Path}?${string}` ? Path : P>>>
