// The last events of a process in one runtime: at the end of its work, at a signal, and with a server that does not
// answer. Its scripts wait for most of their time, so several run at once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TimingState } from '../../src/wire/timings.ts'
import { takePort } from '../support/ports.ts'
import { type RealStint, startRealStint } from '../support/real-stint.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Receiver, runScript, startReceiver, taken, writeClient } from './client-cast.ts'

const IMPORTS = `import process from 'node:process'\nimport { createStint } from './stint.mjs'\n`
/** More would delay each other on two processors. */
const AT_ONCE = 4

/** A directory with the packed client, a real Stint and a server that never answers, for one file. */
export function useServers() {
  const dir = tempDir('client')
  const servers = {} as { stint: RealStint; silent: Receiver }
  beforeAll(async () => {
    await writeClient(dir)
    servers.stint = await startRealStint()
    servers.silent = startReceiver(() => new Promise<Response>(() => {}))
  })
  afterAll(async () => {
    await servers.stint.stop()
    await servers.silent.stop()
  })
  /** `completed`, or `failed` and each exception of the run, for every run of the process. */
  const toldOf = async (process: string) =>
    (await servers.stint.runs(process)).map(({ state, exceptions }) => [state, ...exceptions])
  /** For the environment of a process. */
  const at = (url: string) => ({ STINT_URL: url, STINT_API_KEY: servers.stint.key })
  return { dir, servers, at, toldOf }
}

/** `runtime` is the command that runs a module. */
export function describeExits(name: 'node' | 'bun' | 'deno', runtime: readonly string[], lacking?: string): void {
  describe.skipIf(lacking !== undefined)(name, () => {
    const { dir, servers, at, toldOf } = useServers()
    let running = 0
    const waiting: (() => void)[] = []
    const start = async (code: string, url = servers.stint.url, env = {}) => {
      if (running++ >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
      const script = await runScript(runtime, dir, IMPORTS + code, { ...at(url), ...env })
      void script.exited.then(() => {
        running--
        waiting.shift()?.()
      })
      return script
    }

    test.concurrent('sends everything before a process ends by itself', async () => {
      const script = await start(`
      const { run, metrics } = createStint({ exitWaitMs: 20_000 })
      await run('${name} quiet', async () => metrics({ a: 1 }))
    `)
      expect(await script.exited).toBe(0)
      expect(await script.output()).toBe('')
      expect(await servers.stint.runs(`${name} quiet`)).toMatchObject([{ state: 'completed', metrics: { a: 1 } }])
    })

    const later = '() => new Promise((resolve) => setTimeout(resolve, 30_000))'
    const fail = `throw new Error('on purpose')`
    test.concurrent.each<[way: string, code: string, exitCode?: number, state?: TimingState]>([
      ['an error that nobody catches', `await run(NAME, async () => { ${fail} })`],
      ['an error in a synchronous run', `run(NAME, () => { ${fail} })`],
      ['a rejection that nobody handles', `run(NAME, async () => { ${fail} })\nsetTimeout(() => {}, 30_000)`],
      [
        'a rejection that nobody handles, of a process without other work',
        `const pause = new Promise((resolve) => setTimeout(resolve, 20))
      async function main() { await run(NAME, async () => { await pause; ${fail} }) }
      main()`,
      ],
      [
        'a rejection that nobody handles, in the middle of a run',
        `run(NAME, ${later})\nsetTimeout(() => { Promise.reject(new Error('on purpose')) }, 20)`,
      ],
      ['an error in a timer in the middle of a run', `run(NAME, ${later})\nsetTimeout(() => { ${fail} }, 20)`],
      [
        'an error in a timer while the main module awaits a run',
        `setTimeout(() => { ${fail} }, 20)\nawait run(NAME, () => new Promise((resolve) => setTimeout(resolve, 300)))`,
      ],
      ['process.exit() after a failed run', `await run(NAME, async () => { throw 1 }).catch(() => process.exit(7))`, 7],
      ['an error in the middle of a run of begin()', `begin(NAME)\nsetTimeout(() => { ${fail} }, 20)`],
      ['process.exit(3) in the middle of a run of begin()', `begin(NAME)\nprocess.exit(3)`, 3],
      ['the end of a run of begin()', `begin(NAME).end()\nprocess.exit(3)`, 3, 'completed'],
      ['process.exit() after a run', `run(NAME, () => {})\nprocess.exit(0)`, 0, 'completed'],
      ['process.exit(3) in the middle of a run', `await run(NAME, async () => process.exit(3))`, 3],
      ['process.exit(0) in the middle of a run', `await run(NAME, async () => process.exit(0))`, 0, 'completed'],
    ])(
      '%s is recorded and ends the process as without the client',
      async (way, code, exitCode = 1, state = 'failed') => {
        const process = `${name}: ${way}`
        const script = await start(`
      const { run, begin } = createStint({ exitWaitMs: 20_000 })
      const NAME = ${JSON.stringify(process)}
      ${code}
    `)
        expect(await script.exited).toBe(exitCode)
        const output = await script.output()
        if (code.includes('on purpose')) expect(output).toContain('on purpose')
        expect(output).not.toContain('stint:')
        const said = code.includes('on purpose') ? expect.stringContaining('on purpose') : expect.any(String)
        expect(await toldOf(process)).toEqual([state === 'failed' ? [state, said] : [state]])
      },
    )

    test.concurrent('a batch that is in flight when the process ends is stored once: it is sent again as it was', async () => {
      let answer = () => {}
      const answered = new Promise<void>((resolve) => {
        answer = resolve
      })
      const slow = startReceiver((_, n) => (n === 0 ? answered.then(taken) : taken()))
      const script = await start(
        `
      const stint = createStint({ exitWaitMs: 5_000, flushMs: 1 })
      stint.start('in flight')
      setTimeout(() => process.exit(0), 200)
    `,
        slow.url,
      )
      expect(await script.exited).toBe(0)
      answer()
      expect(new Set(slow.events().map((event) => JSON.stringify(event))).size).toBe(1)
      await slow.stop()
    })

    test.concurrent('a failing run in a process that lives on does not wait for Stint', async () => {
      const script = await start(
        `
      const stint = createStint({ exitWaitMs: 20_000, flushMs: 1, onDrop: () => {} })
      const began = performance.now()
      const failing = () => stint.run('served', async () => { throw new Error('refused') })
      for (let i = 0; i < 100; i++) await failing().catch(() => {})
      process.on('unhandledRejection', () => {
        console.log(performance.now() - began < 10_000 ? 'fast' : 'slow')
        process.kill(process.pid, 'SIGKILL')
      })
      failing()
    `,
        servers.silent.url,
      )
      await script.exited
      expect(await script.output()).toBe('fast\n')
    })

    test.concurrent('a process that handles its rejections lives on, and a client does not count as a handler', async () => {
      const code = `
      process.once('unhandledRejection', ({ message }) => {
        console.log(message)
        run('${name} rejects again', ${later})
        Promise.reject(new Error('second'))
      })
      const { run } = createStint({ exitWaitMs: 20_000 })
      run('${name} rejects', () => {})
      Promise.reject(new Error('first'))
    `
      const script = await start(code)
      expect(await script.exited).toBe(1)
      const output = await script.output()
      expect(output).toStartWith('first\n')
      expect(output.match(/^.*error: second$/gim)).toHaveLength(1)
      expect(await toldOf(`${name} rejects`)).toEqual([['completed']])
      expect(await toldOf(`${name} rejects again`)).toEqual([['failed', expect.stringContaining('second')]])
    })

    test.concurrent('SIGTERM in the middle of a run ends it as failed', async () => {
      const script = await start(`
      const { run, begin } = createStint({ exitWaitMs: 20_000 })
      run('${name} cut', ${later})
      begin('${name} cut by hand')
      console.log('ready')
    `)
      await script.prints('ready')
      script.kill('SIGTERM')
      expect(await script.exited).toBe(128)
      const why = 'the process was ended by SIGTERM in the middle of this run'
      expect(await toldOf(`${name} cut`)).toEqual([['failed', why]])
      expect(await toldOf(`${name} cut by hand`)).toEqual([['failed', why]])
    })

    // Bun waits forever; Deno exits with 1
    if (name === 'node')
      test.concurrent('a run that waits forever has the exit code', async () => {
        const script = await start(`
        const { run } = createStint({ exitWaitMs: 20_000 })
        await run('node waits', () => new Promise(() => {}))
      `)
        expect(await script.exited).toBe(13)
        const why = 'the process ended with code 13 in the middle of this run'
        expect(await toldOf('node waits')).toEqual([['failed', why]])
      })

    test.concurrent('a thread of the caller that fails is recorded', async () => {
      const thread = join(dir, `thread-${name}.mjs`)
      await Bun.write(
        thread,
        `
      import { createStint } from './stint.mjs'
      const { run } = createStint({ exitWaitMs: 20_000 })
      await run('${name} thread', async () => { throw new Error('on purpose') })
    `,
      )
      const script = await start(`
      import { Worker } from 'node:worker_threads'
      const worker = new Worker(${JSON.stringify(thread)})
      worker.on('error', ({ message }) => console.log(message.includes('on purpose')))
    `)
      await script.exited
      expect(await script.output()).toContain(name === 'deno' ? 'on purpose' : 'true')
      expect(await toldOf(`${name} thread`)).toEqual([['failed', expect.stringContaining('on purpose')]])
    })

    test.concurrent('a process that handles SIGTERM decides itself', async () => {
      const script = await start(`
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
      expect(await toldOf(`${name} handled`)).toEqual([['completed']])
    })

    test.concurrent('a server that never answers delays the end by exitWaitMs at most, and the work by nothing', async () => {
      const script = await start(
        `
      const stint = createStint({ exitWaitMs: 300, flushMs: 1 })
      await stint.run('stuck', () => new Promise((resolve) => setTimeout(() => {
        setTimeout(() => console.log('a timer'), 100) // shorter than exitWaitMs
        resolve()
      }, 50)))
      console.log('the run')
      await new Promise((resolve) => setTimeout(resolve, 150))
      const over = performance.now()
      process.on('exit', () => console.log(performance.now() - over < ${name === 'node' ? 3000 : 11_500} ? 'soon' : 'late'))
    `,
        servers.silent.url,
      )
      expect(await script.exited).toBe(0)
      expect(await script.output()).toMatch(/^the run\na timer\nsoon\nstint: 2 events not confirmed [^\n]*\n$/)
    })

    test.concurrent('events that are not confirmed at the end are reported, and kept unless the backlog is off', async () => {
      const home = tempDir('home')
      const script = await start(
        `
      const told = []
      const onDrop = ({ kind }, reason, { kept }) => told.push(kind + ': ' + reason + ' ' + kept)
      const first = createStint({ exitWaitMs: 300, flushMs: 1, onDrop })
      await first.run('given up', () => new Promise((resolve) => setTimeout(resolve, 50)))
      const off = createStint({ exitWaitMs: 300, backlog: false, onDrop })
      off.start('given up')
      const mute = createStint({ exitWaitMs: 300 })
      mute.start('given up')
      mute.end('given up')
      createStint({ exitWaitMs: 300, backlog: process.env.BACKLOG }).start('kept by its call')
      process.on('exit', () => console.log(told.join('\\n')))
    `,
        servers.silent.url,
        { HOME: home, BACKLOG: join(dir, `backlog-${name}`) },
      )
      expect(await script.exited).toBe(0)
      const reason = 'not confirmed before the process ended, it may be stored'
      expect(await script.output()).toBe(
        `start: ${reason} true\nend: ${reason} true\nstart: ${reason} false\nstint: 2 events ${reason}; kept, sent later\n`,
      )
      const kept = [...new Bun.Glob('.local/state/stint/*/*.json').scanSync({ cwd: home, dot: true })]
      expect(kept).toHaveLength(2)
    })

    test.concurrent('a restart of Stint is waited for, and what it outlasts is sent by the next process', async () => {
      const home = tempDir('home')
      const port = takePort()
      const url = `http://127.0.0.1:${port}`
      const listen = () =>
        Bun.serve({
          ...{ hostname: '127.0.0.1', port },
          fetch: async (request) =>
            fetch(`${servers.stint.url}/v1/batch`, {
              ...{ method: 'POST', headers: request.headers, body: await request.arrayBuffer() },
            }),
        })
      const code = (more: string) => `
      const { run } = createStint({ ${more} })
      await run(process.env.NAME, async () => {})
      console.log('ready')
    `
      const waits = await start(code(''), url, { HOME: home, NAME: `${name} restart` })
      await waits.prints('ready')
      await Bun.sleep(4_000) // longer than the wait for a silent Stint
      await using forward = listen()
      expect(await waits.exited).toBe(0)
      expect(await waits.output()).toBe('ready\n')
      expect(await toldOf(`${name} restart`)).toEqual([['completed']])
      await forward.stop(true)
      const gone = await start(code('exitWaitMs: 200'), url, { HOME: home, NAME: `${name} gone` })
      expect(await gone.exited).toBe(0)
      await using _ = listen()
      const next = await start(code(''), url, { HOME: home, NAME: `${name} next` })
      expect(await next.exited).toBe(0)
      expect([await toldOf(`${name} gone`), await toldOf(`${name} next`)]).toEqual([[['completed']], [['completed']]])
    })

    test('each event was sent once', async () => {
      const { values } = await servers.stint.app.rooms.metrics.accepted.get()
      const accepted = values.reduce((sum, { value }) => sum + value, 0)
      expect(accepted).toBe((await servers.stint.events()).length)
    })
  })
}
