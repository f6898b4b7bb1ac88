// What /api answers, as far as the console reads it (DESIGN.md 9). Times are RFC 3339 with nine digits of a second.

export type RunState = 'completed' | 'failed' | 'running' | 'abandoned' | 'orphan'

export interface Timing {
  readonly process: string
  readonly meta: string | null
  readonly uid: string | null
  readonly state: RunState
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly duration_ms: number | null
  /** Null: unknown; absent: from a server that does not count them. */
  readonly exceptions?: number | null
}

export interface SummaryRow {
  readonly process: string
  readonly meta?: string | null
  readonly at?: string
  readonly count: number
  readonly mean_ms: number | null
  readonly p50_ms: number | null
  readonly p95_ms: number | null
  readonly p99_ms: number | null
  readonly max_ms: number | null
  readonly failed?: number
  readonly running: number
  readonly abandoned: number
  readonly orphan: number
}

export interface MetricPoint {
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly name: string
  readonly value: number
  readonly uid?: string | null
}

/** Of one bucket. */
export interface MetricRow {
  readonly at: string
  readonly process: string
  readonly name: string
  readonly count: number
  /** Null, like a sum, where it is beyond the largest number there is. */
  readonly mean: number | null
  readonly min: number
  readonly max: number
  readonly sum: number | null
  readonly last: number
}

export interface ExceptionText {
  readonly at: string
  readonly process: string
  readonly meta: string | null
  readonly exception: string
  readonly fingerprint: string
  readonly uid?: string | null
}

export interface ExceptionGroup {
  readonly fingerprint: string
  readonly process: string
  readonly count: number
  readonly first_at: string
  readonly last_at: string
  readonly example: string
  /** With `every`; buckets without an exception are left out. */
  readonly counts?: readonly { readonly at: string; readonly count: number }[]
  /** With `fingerprint`: what the fingerprint is made of. */
  readonly normalized?: string
}

export interface ProcessEntry {
  readonly process: string
  readonly metas: readonly (string | null)[]
  readonly last_at: string
  readonly kinds: readonly ('mark' | 'metric' | 'exception')[]
}

export interface Account {
  readonly id: string
  readonly email: string
  readonly created_at: string
  readonly operator: boolean
}

export interface IssuedKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly ('write' | 'read')[]
  readonly secret: string
}

export interface Key extends Omit<IssuedKey, 'secret'> {
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

export interface SessionEntry {
  readonly id: string
  readonly current: boolean
  readonly user_agent: string
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
}

export interface DeadLetter {
  readonly id: string
  readonly kind: string
  readonly process: string
  readonly meta: string | null
  readonly at: string
  readonly reason: string
  readonly buried_at: string
  readonly event: object
}

export interface SpoolHealth {
  readonly records: number
  readonly bytes: number
  readonly oldest_s: number
}

export interface DestinationHealth {
  readonly store: string
  readonly state: 'idle' | 'shipping' | 'retrying' | 'parked'
  /** Told to the operator. */
  readonly reason?: string
  readonly since: string
}

export interface Health {
  readonly spools: Readonly<Record<'points' | 'exceptions', SpoolHealth>>
  readonly destinations: Readonly<Record<'points' | 'exceptions', DestinationHealth>>
  readonly dead: { readonly own: number; readonly total?: number }
}

export interface SignUpState {
  readonly open: boolean
  readonly setup_code_required: boolean
  readonly signed_in: boolean
}
