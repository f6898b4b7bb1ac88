// @elysiajs/swagger overwrites the request body that a route describes with one of its own, in up to three content types, as soon as Elysia
// validates the body. Routes therefore describe theirs as `x-request`, which is put back here.

interface Operation {
  readonly 'x-request'?: object
  readonly requestBody?: object
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/** A copy of the document with every body as its route describes it. */
export const restoreBodies = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  paths: mapValues(document.paths, (methods) =>
    mapValues(methods, ({ 'x-request': requestBody, requestBody: _, ...rest }) => ({
      ...rest,
      ...(requestBody && { requestBody }),
    })),
  ),
})

const mapValues = <T, U>(members: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value)]))
