// Unread answers, over real sockets: the account that asked has no further question running, and no other account notices.
import { expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { Event } from '../../../src/event/event.ts'
import { parseStampNs } from '../../../src/event/stamp.ts'
import { problemResponse } from '../../../src/http/answers.ts'
import type { Authorize } from '../../../src/http/authorize.ts'
import { createAnswerTags } from '../../../src/http/questions/answer-tags.ts'
import { type QuestionRoutesDeps, questionRoutes } from '../../../src/http/questions/question-routes.ts'
import type { Problem } from '../../../src/problem.ts'
import { createKeptAnswers } from '../../../src/query/kept-answers.ts'
import { deskOf, memoryQuestions, NOW_NS } from '../../support/memory-questions.ts'
import { createMemorySource } from '../../support/memory-source.ts'
import { until } from '../../support/until.ts'

/** 9 MB of them: more than sockets hold. */
const EVENTS: Event[] = Array.from({ length: 600 }, (_, i) => ({
  kind: 'exception',
  account: 'ada',
  process: 'p',
  meta: '',
  stamp: parseStampNs(NOW_NS - BigInt(i + 1) * 1_000_000n),
  exception: 'stack overflow '.repeat(1_000),
}))

function serve(more: Partial<QuestionRoutesDeps> = {}, deadlineMs = 60_000) {
  const { exceptions } = createMemorySource(EVENTS)
  let begun = 0
  const findExceptions: typeof exceptions.findExceptions = (...args) => {
    begun++
    return exceptions.findExceptions(...args)
  }
  const questions = memoryQuestions([], {
    exceptions: { ...exceptions, findExceptions },
    desk: deskOf({ deadlineMs, maxAtOnce: 3, maxRunning: 2 }),
  })
  const authorize: Authorize = async (request) => {
    const account = request.headers.get('account') ?? 'ada'
    return { account, role: 'owner', isOperator: false }
  }
  const app = new Elysia()
    .onError(({ error }) => problemResponse(error as Problem))
    .use(questionRoutes({ authorize, questions, ...more }))
    .listen({ hostname: '127.0.0.1', port: 0 })
  const base = `http://127.0.0.1:${app.server!.port}/api/exceptions`
  const url = `${base}?limit=1000`
  return {
    base,
    begun: () => begun,
    stop: () => app.stop(true),
    ask: (account = 'ada') => fetch(url, { headers: { account } }),
    export: () => fetch(`${base}/export?format=jsonl`),
    /** Asks, and reads no more than the beginning of the answer. */
    async askWithoutReading(asked = url) {
      const { promise: answered, resolve } = Promise.withResolvers<void>()
      let isReading = false
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port: app.server!.port!,
        socket: {
          data(self) {
            if (!isReading) self.pause()
            resolve()
          },
        },
      })
      socket.write(`GET ${asked} HTTP/1.1\r\nhost: a\r\n\r\n`)
      await answered
      return {
        read() {
          isReading = true
          socket.resume()
        },
        terminate: () => socket.terminate(),
      }
    },
  }
}

test('a question counts as running until its answer has been read', async () => {
  const { begun, stop, ask, askWithoutReading } = serve()
  const [first, second] = [await askWithoutReading(), await askWithoutReading()]
  const more = [ask(), ask()]
  expect((await Promise.race(more)).status).toBe(429) // while the other waits
  expect((await ask('eve')).status).toBe(200)
  expect(begun()).toBe(3) // eve's among them, the third not
  first.read()
  const answers = await Promise.all(more)
  const third = answers.find(({ status }) => status === 200)!
  expect(((await third.json()) as { exceptions: unknown[] }).exceptions).toHaveLength(EVENTS.length)

  expect((await ask()).status).toBe(200) // the second is still unread, and one at a time goes on
  second.terminate()
  const both = await Promise.all([askWithoutReading(), askWithoutReading()]) // would wait forever, were the second still counted
  for (const socket of [first, ...both]) socket.terminate()
  await stop()
})

test('an export that nobody reads holds a place among exports, and no turn of questions', async () => {
  const { base, stop, ask, askWithoutReading, export: exportAll } = serve()
  const unread = await Promise.all([1, 2].map(() => askWithoutReading(`${base}/export?format=jsonl`)))
  const read = async (answer: Promise<Response>) => {
    await (await answer).arrayBuffer()
    return (await answer).status
  }
  for (let i = 0; i < 3; i++) expect(await read(ask())).toBe(200)
  expect(await read(exportAll())).toBe(429)
  unread[0]!.terminate()
  await until('its place is free', async () => (await read(exportAll())) === 200)
  unread[1]!.read()
  unread[1]!.terminate()
  await stop()
})

test('a shared answer that could not be begun counts as sent', async () => {
  const tags = createAnswerTags({
    start: '',
    versionOf: () => '1',
    watchChanges: () => 0,
    nowMs: () => 0,
  })
  const broken = { ...tags, tagOf: () => 'no\nheader' }
  const { base, begun, stop } = serve({ kept: createKeptAnswers(() => 0), tags: broken }, 5_000)
  for (const limit of [997, 998, 999, 1000]) {
    const headers = { 'cache-control': 'max-age=2', 'accept-encoding': 'identity' }
    const answer = await fetch(`${base}?limit=${limit}`, { headers })
    expect(answer.status).toBe(500)
  }
  expect(begun()).toBe(4) // none waited for a turn in vain
  await stop()
})
