// OIDC_ROLES: values of claims → roles in the operator's account.
import type { RoleRule } from '../parse-settings.ts'
import { includesRole, type Role } from '../wire/roles.ts'

/** The highest role that the claims give. */
export function roleOf(claims: Readonly<Record<string, unknown>>, rules: readonly RoleRule[]): Role | undefined {
  const given = rules.filter(({ claim, value }) => {
    const found = findClaim(claims, claim)
    return (Array.isArray(found) ? found : [found]).includes(value)
  })
  return given.map(({ role }) => role).reduce<Role | undefined>((a, b) => (a && includesRole(a, b) ? a : b), undefined)
}

/** A claim of that very name goes before a path: names may hold dots. */
function findClaim(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let found: unknown = claims
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}
