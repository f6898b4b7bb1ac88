// HTTP requests whose error bodies are bounded: what stands in front of a store may answer with anything, and the
// client library keeps whatever it is sent.
import http, { type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'

const MAX_ERROR_BYTES = 65_536

type Respond = (response: IncomingMessage) => void

const bounded =
  (module: typeof http | typeof https) =>
  (options: RequestOptions, respond: Respond): http.ClientRequest =>
    module.request(options, (response) => respond(isError(response) ? shortened(response) : response))

/** `request` of node:http and node:https, in the shape that the library takes in place of them. */
export const boundedRequests = { http: { request: bounded(http) }, https: { request: bounded(https) } }

const isError = ({ statusCode = 600 }: IncomingMessage): boolean => statusCode >= 300

function shortened(response: IncomingMessage): IncomingMessage {
  const { statusCode, statusMessage, headers } = response
  return Object.assign(Readable.from(beginning(response)), { statusCode, statusMessage, headers }) as IncomingMessage
}

/** Ends the connection if there is more. */
async function* beginning(response: IncomingMessage): AsyncGenerator<Buffer> {
  let left = MAX_ERROR_BYTES
  for await (const bytes of response as AsyncIterable<Buffer>) {
    yield bytes.subarray(0, left)
    left -= bytes.length
    if (left <= 0) return
  }
}
