// Who manages keys: the session, or a key with the scope `manage`, which cannot give out more than it has.
import type { FoundKey } from '../../account/key-ring.ts'
import { Problem } from '../../problem.ts'
import type { Scope } from '../../wire/keys.ts'

export interface KeyManager {
  readonly account: string
  has(scope: Scope): boolean
}

/** The function throws Problem `scope_missing`, and what the two given ones throw. */
export const createRequireManager =
  (
    findKey: (request: Request) => FoundKey | undefined,
    requireSession: (request: Request) => Promise<{ readonly account: string }>,
  ) =>
  async (request: Request): Promise<KeyManager> => {
    const key = findKey(request)
    if (key === undefined) return { account: (await requireSession(request)).account, has: () => true }
    if (!key.manage) throw new Problem('scope_missing', 'This key may not manage.')
    return { account: key.account, has: (scope) => key[scope] }
  }

/** Throws Problem `scope_missing`. */
export function refuseWiderScopes(has: KeyManager['has'], scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !has(scope))
  if (missing === undefined) return
  throw new Problem('scope_missing', `This key lacks the scope ${missing}, so it cannot issue a key that has it.`)
}
