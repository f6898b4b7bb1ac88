// A POST that the caller waits for, for the `exit` handler of a process, which nothing asynchronous outlives: a thread
// of its own sends while this one sleeps. A child process would take ten times as long, and permission in Deno.
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { nowUs } from './event-times.ts'
import { type Answer, noAnswer, readAhead } from './judge-answer.ts'
import { environment } from './settings.ts'

export type PostNow = ReturnType<typeof createPostNow>

/** As text, since the file of a bundled program is that program. Counts up in `done` with each answer. */
const THREAD = `
const { port, done } = require('node:worker_threads').workerData
port.on('message', ({ url, headers, body, timeoutMs }) => {
  const settle = (answer) => {
    port.postMessage(answer)
    Atomics.add(done, 0, 1)
    Atomics.notify(done, 0)
  }
  const fail = (error) => settle({ fault: error.code || error.message })
  try {
    const { request } = require(url.startsWith('https:') ? 'node:https' : 'node:http')
    const options = { method: 'POST', headers: { ...headers, 'content-length': body.length } }
    const sent = request(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => { text += chunk }).on('error', fail).on('end', () => {
        const retryAfterMs = Number(response.headers['retry-after']) * 1000 || 0
        settle({ status: response.statusCode, retryAfterMs, text, date: response.headers.date })
      })
    })
    setTimeout(() => sent.destroy(new Error('timeout')), timeoutMs)
    sent.on('error', fail).end(body)
  } catch (error) {
    fail(error)
  }
})`

export function createPostNow() {
  const done = new Int32Array(new SharedArrayBuffer(4))
  const { port1, port2 } = new MessageChannel()
  let worker: Worker | undefined

  return {
    /** Throws when the runtime allows no thread. */
    post(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array, timeoutMs: number): Answer {
      worker ??= startThread({ port: port2 as MessagePort, done })
      const before = Atomics.load(done, 0)
      const sentMs = nowUs() / 1000
      port1.postMessage({ url, headers, body, timeoutMs })
      Atomics.wait(done, 0, before, timeoutMs)
      const { fault = 'timeout', date, ...answer } = receiveMessageOnPort(port1)?.message ?? {}
      if (answer.status === undefined) return noAnswer(fault)
      return { ...answer, aheadMs: readAhead(date, sentMs, nowUs() / 1000) }
    },
    sleep: (ms: number) => void Atomics.wait(done, 0, Atomics.load(done, 0), ms),
    close(): void {
      port1.close()
      void worker?.terminate()
    },
  }
}

/** Without the modules that the program preloads. */
function startThread(workerData: { readonly port: MessagePort; readonly done: Int32Array }): Worker {
  const { port } = workerData
  const transferList = [port as never] // Bun's types and Node's disagree
  const worker = new Worker(THREAD, { eval: true, workerData, transferList, execArgv: [], env: environment() })
  worker.on('error', () => {}) // no answer comes
  worker.unref()
  return worker
}
