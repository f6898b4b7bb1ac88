// The body of POST /v1/batch, as the clients and the command line write it: a list of events, each one JSON text.

/** Most events of one request. */
export const BATCH_EVENTS = 1000
/** A request ends with the event that reaches this many characters. */
export const BATCH_CHARACTERS = 2 ** 19

/** One event: `body` is a JSON object with fields, of which no one is called kind. */
export const toEvent = (kind: string, body: string): string => `{"kind":"${kind}",${body.slice(1)}`

export const toBatch = (events: readonly string[]): string => `[${events.join()}]`
