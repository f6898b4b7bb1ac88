// What a request gets that does not name it. Free of schemas: it is in the console's bundle.

/** How late a start may be. */
export const DEFAULT_GRACE = '5m'
