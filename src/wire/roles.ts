// One table of who may use which route; the checks (http/authorize.ts), the OpenAPI document and tests follow from it.

/** Scopes of a key: send events; ask questions; ping by address; manage watches, channels and the creator's keys. */
export const SCOPES = ['write', 'read', 'ping', 'manage'] as const
export type Scope = (typeof SCOPES)[number]

/** How long an old key may stay valid after a rotation. */
export const OVERLAP_MAX_S = 30 * 86_400

/** Roles of people in an account; each includes the ones before it. */
export const ROLES = ['viewer', 'member', 'owner'] as const
export type Role = (typeof ROLES)[number]

export interface AccessRule {
  /** Keys with this scope may; null: no key. */
  readonly scope: Scope | null
  /**
   * Sessions of people with at least this role may; null: no session. A key counts as a member, or as a viewer after
   * its creator became one.
   */
  readonly role: Role | null
  /** Only in the account of the operator. */
  readonly operator?: true
  /** A request without credentials is asked to sign in, not for a key. */
  readonly signIn?: true
}

export const ACCESS = {
  anyone: { scope: null, role: null },
  send: { scope: 'write', role: null },
  read: { scope: 'read', role: 'viewer' },
  /** Dead letters: replay and delete. */
  repair: { scope: 'write', role: 'member' },
  /** Watches, channels, alerts: look. */
  view: { scope: 'manage', role: 'viewer' },
  /** Watches, channels, alerts: change. */
  manage: { scope: 'manage', role: 'member' },
  /** The own keys, and for owners those of others. */
  viewKeys: { scope: 'manage', role: 'viewer', signIn: true },
  manageKeys: { scope: 'manage', role: 'member', signIn: true },
  /** The person's own: sessions, password, membership. */
  self: { scope: null, role: 'viewer' },
  own: { scope: null, role: 'owner' },
  operate: { scope: null, role: 'owner', operator: true },
} as const satisfies Record<string, AccessRule>

export type Access = keyof typeof ACCESS

export const includesRole = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)
