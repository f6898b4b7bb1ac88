// The last events of a process, in each runtime that is here: at the end of its work, at a signal, and with a server that does not answer.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { findDeno, findNode, missing } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Receiver, runScript, startReceiver, writeClient } from './client-cast.ts'

const dir = tempDir('client')
const runtimes = [
  ['node', [findNode() ?? 'node'], missing('node')],
  ['bun', [process.execPath], undefined],
  ['deno', [findDeno() ?? 'deno', 'run', '--allow-all', '--no-lock'], missing('deno')],
] as const

let receiver: Receiver
let silent: Receiver
beforeAll(async () => {
  await writeClient(dir)
  receiver = startReceiver()
  silent = startReceiver(() => new Promise<Response>(() => {}))
})
afterAll(async () => {
  await receiver.stop()
  await silent.stop()
})

const kindsOf = (process: string) =>
  receiver
    .events()
    .filter((it) => it.process === process)
    .map(({ kind }) => kind)

describe.each(runtimes)('%s', (name, runtime, lacking) => {
  const here = test.skipIf(lacking !== undefined)
  const start = (code: string, url = receiver.url, env = {}) =>
    runScript(runtime, dir, code, { STINT_URL: url, STINT_API_KEY: 'k', ...env })

  here('sends everything before a process ends by itself', async () => {
    const script = await start(`
      import { createStint } from './stint.mjs'
      const { run, metrics } = createStint({ exitWaitMs: 20_000 })
      await run('${name} quiet', async () => metrics({ a: 1 }))
    `)
    expect(await script.exited).toBe(0)
    expect(await script.output()).toBe('')
    expect(kindsOf(`${name} quiet`)).toEqual(['start', 'metrics', 'end'])
  })

  here('an error nobody catches ends the process as without the client', async () => {
    const script = await start(`
      import { createStint } from './stint.mjs'
      const { run } = createStint({ exitWaitMs: 20_000 })
      await run('${name} thrown', async () => { throw new Error('on purpose') })
    `)
    expect(await script.exited).toBe(1)
    expect(await script.output()).toContain('on purpose')
  })

  here('SIGTERM ends a process that does not handle it, by that signal, after the last events', async () => {
    const script = await start(`
      import { createStint } from './stint.mjs'
      const { start } = createStint({ exitWaitMs: 20_000 })
      start('${name} ended')
      setInterval(() => {}, 1000)
      console.log('ready')
    `)
    await script.prints('ready')
    script.kill('SIGTERM')
    expect(await script.exited).toBe(128)
    expect(kindsOf(`${name} ended`)).toEqual(['start'])
  })

  here('a process that handles SIGTERM decides itself', async () => {
    const script = await start(`
      import { createStint } from './stint.mjs'
      const { start, end } = createStint({ exitWaitMs: 20_000 })
      start('${name} handled')
      const busy = setInterval(() => {}, 1000)
      process.on('SIGTERM', () => setTimeout(() => {
        end('${name} handled')
        clearInterval(busy)
        console.log('done')
      }, 300))
      console.log('ready')
    `)
    await script.prints('ready')
    script.kill('SIGTERM')
    expect(await script.exited).toBe(0)
    expect(await script.output()).toContain('done')
    expect(kindsOf(`${name} handled`)).toEqual(['start', 'end'])
  })

  here('a server that never answers delays the end by exitWaitMs at most, and the work by nothing', async () => {
    const script = await start(
      `
      import { createStint } from './stint.mjs'
      const stint = createStint({ exitWaitMs: 300, flushMs: 1 })
      const began = performance.now()
      await stint.run('stuck', () => new Promise((resolve) => setTimeout(resolve, 50)))
      console.log(performance.now() - began < 500 ? 'fast' : 'slow')
      const over = performance.now()
      process.on('exit', () => console.log(performance.now() - over < ${name === 'node' ? 3000 : 11_500} ? 'soon' : 'late'))
    `,
      silent.url,
    )
    expect(await script.exited).toBe(0)
    expect(await script.output()).toMatch(/^fast\nsoon\nstint: an event was dropped: [^\n]*\n$/)
  })

  here('events that are given up at the end are reported, those in the backlog are not', async () => {
    const script = await start(
      `
      import { createStint } from './stint.mjs'
      const told = []
      const first = createStint({ exitWaitMs: 300, flushMs: 1, onDrop: ({ kind }, reason) => told.push(kind + ': ' + reason) })
      await first.run('given up', () => new Promise((resolve) => setTimeout(resolve, 50)))
      const kept = createStint({ exitWaitMs: 300, backlog: process.env.BACKLOG })
      kept.start('kept')
      const mute = createStint({ exitWaitMs: 300 })
      mute.start('given up')
      mute.end('given up')
      process.on('exit', () => console.log(told.join('\\n')))
    `,
      silent.url,
      { BACKLOG: join(dir, `backlog-${name}`) },
    )
    expect(await script.exited).toBe(0)
    const reason = 'the process ended before Stint accepted it'
    expect(await script.output()).toBe(
      `start: ${reason}\nend: ${reason}\nstint: an event was dropped: ${reason} (2 since the last message)\n`,
    )
  })
})

test('the receiver has each event once', () => {
  const lines = receiver.events().map((event) => JSON.stringify(event))
  expect(new Set(lines).size).toBe(lines.length)
})
