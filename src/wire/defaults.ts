// Defaults and limits of requests. Free of schemas: it is in the console's bundle.

/** How late a start may be. */
export const DEFAULT_GRACE = '5m'

/** How long an old key may stay valid after a rotation. */
export const OVERLAP_MAX_S = 30 * 86_400
