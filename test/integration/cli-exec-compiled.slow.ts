// `stint exec` as the one compiled file, which `bun run build:cli` makes: for any user, without a home, and as process 1.
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { ROOT } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'
import { useExec } from './exec-cast.ts'

describe.skipIf(missing('chdb') !== undefined)('the compiled file', () => {
  const { cast, timings, exceptions, untilStates, untilExceptions } = useExec()
  const compiled = join(tempDir('compiled'), 'stint')

  beforeAll(async () => {
    const scripts = (await Bun.file(join(ROOT, 'package.json')).json()).scripts as Record<string, string>
    const build = scripts['build:cli']!.replace('dist/stint', compiled)
      .replace(/^.* && bun /, '')
      .split(' ')
    const child = Bun.spawn([process.execPath, ...build], { cwd: ROOT, stdout: 'pipe', stderr: 'pipe' })
    const [said] = await Promise.all([new Response(child.stderr).text(), child.exited])
    if (child.exitCode !== 0) throw new Error(said)
  })

  const run = async (args: string[], env: Record<string, string> = {}) => {
    const child = Bun.spawn([compiled, ...args], {
      cwd: cast.user.home,
      env: { ...cast.user.env, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { exitCode: await child.exited, stdout, stderr }
  }

  test('it runs jobs', async () => {
    const script = 'echo out; echo err >&2; exit 6'
    const { exitCode, stdout, stderr } = await run(['exec', '--process', 'compiled', '--', 'sh', '-c', script])
    expect([exitCode, stdout, stderr]).toEqual([6, 'out\n', 'err\n'])
    await untilStates('compiled', 'failed')
    expect((await timings('compiled'))[0]!.duration_ms).toBeGreaterThan(0)
    await untilExceptions('compiled', 1)
    // Standard output is kept without being asked: what Bun makes of 'pipe' is a socket.
    expect(await exceptions('compiled')).toEqual(['sh: exited with code 6\nout\nerr'])
    const asked = await run(['timings', '--process', 'compiled', '--json'])
    expect(JSON.parse(asked.stdout).timings).toHaveLength(1)
  })

  /** Another user may run the file, and all that it can write is in its own temporary directory. */
  test.skipIf(process.getuid!() !== 0).each([
    ['a user without a home', ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'], '/nonexistent'],
    ['a user whose home is /', ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'], '/'],
    ['process 1 of a container', ['unshare', '--pid', '--fork', '--mount-proc'], '/nonexistent'],
  ])('a failed run of %s is stored, and nothing is printed', async (name, wrapper, HOME) => {
    const open = join(tmpdir(), `stint-open-${crypto.randomUUID()}`)
    mkdirSync(open, { mode: 0o755 })
    try {
      cpSync(compiled, join(open, 'stint'))
      const script = '(sleep 0.05 &) ; sleep 0.2; ps -eo ppid,stat | grep -c "^ *$PPID Z"; exit 6'
      const words = [...wrapper, join(open, 'stint'), 'exec', '--process', name, '--', 'sh', '-c', script]
      const child = Bun.spawn(words, {
        cwd: '/',
        env: { ...cast.user.env, HOME, TMPDIR: open },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      expect([await child.exited, stdout, stderr]).toEqual([6, '0\n', ''])
      await untilStates(name, 'failed')
      await untilExceptions(name, 1)
    } finally {
      rmSync(open, { recursive: true, force: true })
    }
  })

  test('it ignores .env files in the working directory', async () => {
    await Bun.write(join(cast.user.home, '.env'), 'STINT_URL=http://127.0.0.1:1\nEVIL=1\n')
    const { stdout, stderr } = await run(['exec', '--process', 'compiled', '--', 'env'])
    expect(stdout).not.toContain('EVIL')
    expect(stderr).toBe('')
  })
})
