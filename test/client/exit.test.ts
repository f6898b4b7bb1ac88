// The last events of a process, in each runtime that is here: at the end of its work, at a signal, and with a server
// that does not answer.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { findDeno, findNode, missing } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { type Receiver, runScript, startReceiver, taken, writeClient } from './client-cast.ts'

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

const IMPORTS = `import process from 'node:process'\nimport { createStint } from './stint.mjs'\n`

describe.each(runtimes)('%s', (name, runtime, lacking) => {
  const here = test.skipIf(lacking !== undefined)
  const start = (code: string, url = receiver.url, env = {}) =>
    runScript(runtime, dir, IMPORTS + code, { STINT_URL: url, STINT_API_KEY: 'k', ...env })

  here('sends everything before a process ends by itself', async () => {
    const script = await start(`
      const { run, metrics } = createStint({ exitWaitMs: 20_000 })
      await run('${name} quiet', async () => metrics({ a: 1 }))
    `)
    expect(await script.exited).toBe(0)
    expect(await script.output()).toBe('')
    expect(kindsOf(`${name} quiet`)).toEqual(['start', 'metrics', 'end'])
  })

  const FAILED_RUN = ['start', 'exception', 'end failed']
  const later = '() => new Promise((resolve) => setTimeout(resolve, 30_000))'
  const fail = `throw new Error('on purpose')`
  here.each<[way: string, code: string, exitCode?: number, kinds?: string[]]>([
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
    ['the end of a run of begin()', `begin(NAME).end()\nprocess.exit(3)`, 3, ['start', 'end']],
    ['process.exit() after a run', `run(NAME, () => {})\nprocess.exit(0)`, 0, ['start', 'end']],
    ['process.exit(3) in the middle of a run', `await run(NAME, async () => process.exit(3))`, 3],
    ['process.exit(0) in the middle of a run', `await run(NAME, async () => process.exit(0))`, 0, ['start', 'end']],
  ])(
    '%s is recorded and ends the process as without the client',
    async (way, code, exitCode = 1, kinds = FAILED_RUN) => {
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
      const events = receiver.events().filter((it) => it.process === process)
      expect(events.map(({ kind, failed }) => (failed ? `${kind} failed` : kind))).toEqual(kinds)
      if (code.includes('on purpose')) expect(events[1]!.exception).toContain('on purpose')
    },
  )

  here('a batch that is in flight when the process ends is stored once: it is sent again as it was', async () => {
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    const slow = startReceiver((_, n) => (n === 0 ? answered.then(taken) : taken()))
    const script = await start(
      `
      const stint = createStint({ exitWaitMs: 20_000, flushMs: 1 })
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

  here('a failing run in a process that lives on does not wait for Stint', async () => {
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
      silent.url,
    )
    await script.exited
    expect(await script.output()).toBe('fast\n')
  })

  here('a process that handles its rejections lives on, and a client does not count as a handler', async () => {
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
    expect(kindsOf(`${name} rejects`)).toEqual(['start', 'end'])
    expect(kindsOf(`${name} rejects again`)).toEqual(['start', 'exception', 'end'])
  })

  here('SIGTERM in the middle of a run ends it as failed', async () => {
    const script = await start(`
      const { run, begin } = createStint({ exitWaitMs: 20_000 })
      run('${name} cut', ${later})
      begin('${name} cut by hand')
      console.log('ready')
    `)
    await script.prints('ready')
    script.kill('SIGTERM')
    expect(await script.exited).toBe(128)
    const [, exception, end] = receiver.events().filter((it) => it.process === `${name} cut`)
    expect(exception!.exception).toBe('the process was ended by SIGTERM in the middle of this run')
    expect(end).toMatchObject({ kind: 'end', failed: true })
    expect(kindsOf(`${name} cut by hand`)).toEqual(['start', 'exception', 'end'])
  })

  // Bun waits forever; Deno exits with 1
  if (name === 'node')
    here('a run that waits forever has the exit code', async () => {
      const script = await start(`
        const { run } = createStint({ exitWaitMs: 20_000 })
        await run('node waits', () => new Promise(() => {}))
      `)
      expect(await script.exited).toBe(13)
      const [, exception] = receiver.events().filter((it) => it.process === 'node waits')
      expect(exception!.exception).toBe('the process ended with code 13 in the middle of this run')
    })

  here('a thread of the caller that fails is recorded', async () => {
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
    expect(kindsOf(`${name} thread`)).toEqual(['start', 'exception', 'end'])
  })

  here('a process that handles SIGTERM decides itself', async () => {
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
    expect(kindsOf(`${name} handled`)).toEqual(['start', 'end'])
  })

  here('a server that never answers delays the end by exitWaitMs at most, and the work by nothing', async () => {
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
      silent.url,
    )
    expect(await script.exited).toBe(0)
    expect(await script.output()).toMatch(/^the run\na timer\nsoon\nstint: 2 events dropped: [^\n]*\n$/)
  })

  here('events that are given up at the end are reported, those in the backlog are not', async () => {
    const script = await start(
      `
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
    expect(await script.output()).toBe(`start: ${reason}\nend: ${reason}\nstint: 2 events dropped: ${reason}\n`)
  })
})

describe.skipIf(missing('deno') !== undefined)('deno', () => {
  const launch = (permissions: readonly string[], way: string, exitWaitMs = 20_000) =>
    runScript(
      [findDeno() ?? 'deno', 'run', '--no-lock', '--no-prompt', ...permissions],
      dir,
      `
      import { createStint } from './stint.mjs'
      const { run } = createStint({ url: '${receiver.url}', key: 'k', exitWaitMs: ${exitWaitMs} })
      run('deno ${way}', () => Deno.exit(4))
    `,
      {},
    )

  test('Deno.exit() sends the last events with no other permission than the net', async () => {
    const script = await launch(['--allow-net'], 'alone')
    expect(await script.exited).toBe(4)
    expect(await script.output()).toBe('')
    expect(kindsOf('deno alone')).toEqual(['start', 'exception', 'end'])
  })

  test.each([
    ['with --allow-env alone it is in the home', ['--allow-env'], true],
    ['with neither the reason is shown, and the events are sent from the memory', [], false],
  ])('the backlog without --allow-sys: %s', async (way, permissions, isKept) => {
    const home = tempDir('home')
    const script = await runScript(
      [
        findDeno() ?? 'deno',
        'run',
        '--no-lock',
        '--no-prompt',
        '--allow-net',
        '--allow-read',
        '--allow-write',
        ...permissions,
      ],
      dir,
      `
      import { createStint } from './stint.mjs'
      const { run } = createStint({ url: '${isKept ? silent.url : receiver.url}', key: 'k', backlog: true, exitWaitMs: ${isKept ? 300 : 20_000} })
      await run('deno: ${way}', async () => {})
    `,
      { HOME: home },
    )
    expect(await script.exited).toBe(0)
    const kept = [...new Bun.Glob('.local/state/stint/*/*.json').scanSync({ cwd: home, dot: true })]
    expect(kept).toHaveLength(isKept ? 1 : 0)
    expect(kindsOf(`deno: ${way}`)).toEqual(isKept ? [] : ['start', 'end'])
    if (isKept) expect(await script.output()).toBe('')
    else expect(await script.output()).toContain('no directory for it is known; name one (STINT_BACKLOG)')
  })

  test('a missing permission is reported once', async () => {
    const script = await launch(['--allow-env'], 'locked')
    expect(await script.exited).toBe(4)
    expect(await script.output()).toMatch(/^stint: 3 events dropped: [^\n]*--allow-net[^\n]*\n$/)
    expect(kindsOf('deno locked')).toEqual([])
  })
})

test('the receiver has each event once', () => {
  const lines = receiver.events().map((event) => JSON.stringify(event))
  expect(new Set(lines).size).toBe(lines.length)
})
