// Elysia answers a known path with another method by 404; RFC 9110 wants 405 and what the path does take.

/** `routes` as Elysia lists them. Returns the value of `allow` for a path, or undefined without a route. A route without parameters hides those with. */
export function createAllowedMethods(
  routes: () => readonly { readonly method: string; readonly path: string }[],
): (path: string) => string | undefined {
  let known: { method: string; path: string; pattern: RegExp }[] | undefined
  return (path) => {
    known ??= routes().map((route) => ({ ...route, pattern: patternOf(route.path) }))
    const exact = known.filter((route) => route.path === path)
    const found = exact.length > 0 ? exact : known.filter(({ pattern }) => pattern.test(path))
    const methods = new Set(found.map(({ method }) => method))
    if (methods.size === 0) return undefined
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods].sort().join(', ')
  }
}

/** `/api/keys/:id` → a pattern in which `:id` is any one segment. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}$`)
