// The last events of a process in Node, in Bun and in Deno, and what Deno's permissions change.
import { describe, expect, test } from 'bun:test'
import { findDeno, findNode, missing } from '../support/needs.ts'
import { tempDir } from '../support/temp-dir.ts'
import { runScript } from './client-cast.ts'
import { describeExits, useServers } from './exit-trial.ts'

const DENO = findDeno() ?? 'deno'
const RUN = [DENO, 'run', '--no-lock', '--no-prompt']

describeExits('node', [findNode() ?? 'node'], missing('node'))
describeExits('bun', [process.execPath])
describeExits('deno', [DENO, 'run', '--allow-all', '--no-lock'], missing('deno'))

describe.skipIf(missing('deno') !== undefined)('the permissions of deno', () => {
  const { dir, servers, toldOf } = useServers()
  const launch = (permissions: readonly string[], way: string, exitWaitMs = 20_000) =>
    runScript(
      [...RUN, ...permissions],
      dir,
      `
      import { createStint } from './stint.mjs'
      const { run } = createStint({ url: '${servers.stint.url}', key: '${servers.stint.key}', exitWaitMs: ${exitWaitMs} })
      run('deno ${way}', () => Deno.exit(4))
    `,
      {},
    )

  test('Deno.exit() sends the last events with no other permission than the net', async () => {
    const script = await launch(['--allow-net'], 'alone')
    expect(await script.exited).toBe(4)
    expect(await script.output()).toBe('')
    expect(await toldOf('deno alone')).toEqual([['failed', expect.stringContaining('code 4')]])
  })

  test.each([
    ['with --allow-env alone it is in the home', ['--allow-env'], true],
    ['with neither the reason is shown, and the events are sent from the memory', [], false],
  ])('the backlog without --allow-sys: %s', async (way, permissions, isKept) => {
    const home = tempDir('home')
    const script = await runScript(
      [...RUN, '--allow-net', '--allow-read', '--allow-write', ...permissions],
      dir,
      `
      import { createStint } from './stint.mjs'
      const { run } = createStint({ url: '${isKept ? servers.silent.url : servers.stint.url}', key: '${servers.stint.key}', backlog: true, exitWaitMs: ${isKept ? 300 : 20_000} })
      await run('deno: ${way}', async () => {})
    `,
      { HOME: home },
    )
    expect(await script.exited).toBe(0)
    const kept = [...new Bun.Glob('.local/state/stint/*/*.json').scanSync({ cwd: home, dot: true })]
    expect(kept).toHaveLength(isKept ? 1 : 0)
    expect(await toldOf(`deno: ${way}`)).toEqual(isKept ? [] : [['completed']])
    if (isKept) expect(await script.output()).toBe('')
    else expect(await script.output()).toContain('no directory for it is known; name one (STINT_BACKLOG)')
  })

  test('a missing permission is reported once', async () => {
    const script = await launch(['--allow-env'], 'locked', 5_000)
    expect(await script.exited).toBe(4)
    expect(await script.output()).toMatch(
      /^stint: the backlog cannot be written: [^\n]*\nstint: 3 events not confirmed [^\n]*--allow-net[^\n]*\n$/,
    )
    expect(await toldOf('deno locked')).toEqual([])
  })
})
