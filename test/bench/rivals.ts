// The servers that Stint's intake is measured against, each in a process of its own: `bun test/bench/rivals.ts NAME`; prints its port.
//   minimal  an Elysia app with one typed body and nothing else: the base of all ratios
//   durable  the same, and durable in the plainest way: what came in during a write is the next one, to one place of a file
//   bare     Bun.serve that parses the JSON and answers 201: what the runtime can do at most
//   app      Stint's own app with its gate, fields and stamps, and a spool that forgets: what durability costs on top
import { constants, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Elysia, t } from 'elysia'
import { createTokenBuckets } from '../../src/account/token-buckets.ts'
import { systemClock } from '../../src/clock.ts'
import { createArrivals } from '../../src/event/arrivals.ts'
import { LIMITS } from '../../src/event/fields.ts'
import { createOwnStamps } from '../../src/event/own-stamps.ts'
import { createStampClock } from '../../src/event/stamp-clock.ts'
import { createBodyBudget } from '../../src/http/intake/body-budget.ts'
import { admit } from '../../src/http/intake/intake-gate.ts'
import { v1Routes } from '../../src/http/intake/v1-routes.ts'
import { Problem } from '../../src/problem.ts'
import { tempDir } from '../support/temp-dir.ts'

const KEY = process.env.BENCH_KEY!
const CREATED = { status: 201, headers: { 'content-type': 'application/json' } }

function bare() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = (await request.json()) as { process?: string }
      return new Response(`{"at":"${body.process?.length}"}`, CREATED)
    },
  }).port
}

/** Group commit and nothing else, on one place of a file: no sequence, no checksum, nothing to read. */
async function openPlainLog(): Promise<(record: string) => Promise<void>> {
  const dir = tempDir('bench')
  const path = join(dir, 'log')
  writeFileSync(path, new Uint8Array(1024 * 1024), { flush: true })
  const file = await open(path, constants.O_RDWR | constants.O_DSYNC)
  rmSync(dir, { recursive: true }) // the file stays as long as it is open
  let lines: string[] = []
  let filling: PromiseWithResolvers<void> | undefined
  let isWorking = false

  async function work() {
    isWorking = true
    await new Promise((resolve) => setImmediate(resolve))
    while (filling !== undefined) {
      const [bytes, group] = [Buffer.from(lines.join('\n')), filling]
      lines = []
      filling = undefined
      await file.write(bytes, 0, bytes.length, 0)
      group.resolve()
    }
    isWorking = false
  }

  return (record) => {
    lines.push(record)
    filling ??= Promise.withResolvers()
    if (!isWorking) void work()
    return filling.promise
  }
}

const listen = (app: Elysia) => {
  app.listen({ port: 0, hostname: '127.0.0.1', reusePort: false, development: false } as never)
  return app.server!.port
}

const typedBody = {
  body: t.Object({
    process: t.String({ maxLength: LIMITS.process }),
    meta: t.Optional(t.String({ maxLength: LIMITS.meta })),
    uid: t.Optional(t.String({ maxLength: LIMITS.uid, pattern: '^[a-z0-9_-]*$' })),
  }),
}

const minimal = () =>
  listen(
    new Elysia().post(
      '/v1/start',
      ({ body, status }) => status(201, { at: body.process }),
      typedBody,
    ) as unknown as Elysia,
  )

async function durable() {
  const append = await openPlainLog()
  const app = new Elysia().post(
    '/v1/start',
    async ({ body, status }) => {
      await append(JSON.stringify(body))
      return status(201, { at: body.process })
    },
    typedBody,
  )
  return listen(app as unknown as Elysia)
}

function app() {
  const arrivals = createArrivals(createStampClock(systemClock, 0, 0))
  const forgetful = { append: () => Promise.resolve(), refusal: () => undefined, backpressure: () => undefined }
  const gate = {
    keyHeader: 'x-stint-api-key',
    keyInvalid: new Problem('key_invalid', 'bench'),
    findKey: (secret: string) =>
      secret === KEY
        ? {
            keyId: 'k',
            account: 'acc_bench',
            write: true,
            read: true,
            ping: false,
            process: null,
            manage: false,
            isSuspended: false,
            usedFrom: undefined,
            role: 'member' as const,
          }
        : undefined,
    rateLimit: createTokenBuckets({ clock: systemClock, limit: 0, windowS: 1, maxEntries: 1 }),
    refusal: () => undefined,
    quotaRefusal: () => undefined,
    stamp: arrivals.stamp,
  }
  const routes = v1Routes({
    spools: { points: forgetful, exceptions: forgetful },
    arrivals,
    ownStamps: createOwnStamps({ find: () => undefined, keep: async () => {} }),
    maxAgeUs: 7 * 86_400e6,
    wallUs: systemClock.wallUs,
    quotaRefusal: () => undefined,
    admitSeries: () => true,
    countAccepted() {},
    bodies: createBodyBudget(),
    passGate: (request, path) => {
      const admission = admit(request, path, gate)
      return admission instanceof Problem ? new Response('refused', { status: admission.status }) : admission
    },
  })
  return listen(routes as unknown as Elysia)
}

const RIVALS = { minimal, durable, bare, app }

console.log(await RIVALS[process.argv[2] as keyof typeof RIVALS]())
