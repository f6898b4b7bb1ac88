// One POST by node:http, because its sockets can be unreferenced: a server that hangs must not keep the caller's
// process alive.
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { nowUs } from './event-times.ts'
import { type Answer, noAnswer, readAhead } from './judge-answer.ts'

const MAX_ANSWER_CHARACTERS = 8 * 2 ** 20

/** Never rejects. */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  timeoutMs: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    const sentMs = nowUs() / 1000
    const fail = (error: Error & { code?: string }) => resolve(noAnswer(error.code ?? error.message))
    try {
      const send = url.startsWith('https:') ? httpsRequest : httpRequest
      const request = send(
        url,
        { method: 'POST', headers: { ...headers, 'content-length': body.length } },
        (response) => {
          let text = ''
          response.setEncoding('utf8')
          response.on('data', (chunk) => {
            if (text.length < MAX_ANSWER_CHARACTERS) text += chunk
          })
          response.on('error', fail)
          response.on('end', () => {
            clearTimeout(timer)
            const retryAfterMs = Number(response.headers['retry-after']) * 1000 || 0
            const aheadMs = readAhead(response.headers.date, sentMs, nowUs() / 1000)
            resolve({ status: response.statusCode ?? 0, retryAfterMs, text, aheadMs })
          })
        },
      )
      const timer = setTimeout(() => request.destroy(new Error('timeout')), timeoutMs)
      timer.unref()
      request.on('socket', (socket) => socket.unref())
      request.on('error', (error) => {
        clearTimeout(timer)
        fail(error)
      })
      request.end(body)
    } catch (error) {
      fail(error as Error)
    }
  })
}
