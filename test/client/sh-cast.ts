// The shells, programs and users that the shell client is tried with.
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { createUser, KEY } from '../cli/exec/exec-cast.ts'
import { ROOT } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'

export interface Kind {
  readonly shell: readonly string[]
  /** The only directory of PATH; as in this process when absent. */
  readonly bin?: () => string
  /** As in a container: another user than root, whose environment has nothing that it needs not. */
  readonly isBare?: true
}

const SCRIPT = join(ROOT, 'src/client/sh/stint.sh')
const NOBODY = 65_534
const OTHER_PROGRAMS =
  'sh cat ls sed awk od tr head tail wc cut date id mkdir mktemp mkfifo mv rm dd tee sleep sha256sum kill grep du basename true env wget'

/** A directory with nothing but these programs. */
function binOf(programs: readonly (readonly [name: string, path: string])[]): string {
  const dir = tempDir('bin')
  for (const [name, path] of programs) symlinkSync(path, join(dir, name))
  chmodSync(dir, 0o755)
  return dir
}

function withoutCurl(): string {
  const found = OTHER_PROGRAMS.split(' ').map((name) => [name, Bun.which(name)] as const)
  return binOf(found.flatMap(([name, path]) => (path === null ? [] : [[name, path] as const])))
}

function allApplets(): string {
  const busybox = Bun.which('busybox')!
  const names = Bun.spawnSync([busybox, '--list']).stdout.toString().trim().split('\n')
  return binOf(names.map((name) => [name, busybox] as const))
}

export const KINDS: Readonly<Record<string, Kind>> = {
  dash: { shell: ['dash'] },
  bash: { shell: ['bash'] },
  'bash --posix': { shell: ['bash', '--posix'] },
  'busybox sh': { shell: ['busybox', 'sh'] },
  'dash with GNU wget': { shell: ['dash'], bin: withoutCurl },
  'busybox alone, as on Alpine': { shell: ['busybox', 'sh'], bin: allApplets, isBare: true },
}

export type ShellUser = ReturnType<typeof createShellUser>

export function createShellUser(url: string, { shell, bin, isBare }: Kind, key = KEY) {
  const user = createUser(url, tempDir('sh'), key)
  const script = join(user.home, 'stint.sh')
  copyFileSync(SCRIPT, script)
  const words = [Bun.which(shell[0]!)!, ...shell.slice(1), script]
  const isOther = isBare && process.getuid!() === 0
  if (isOther) {
    chownSync(user.home, NOBODY, NOBODY)
    words.unshift(Bun.which('setpriv')!, `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups')
  }
  const { TMPDIR, ...bare } = user.env
  const env = { ...(isBare ? bare : user.env), ...(bin && { PATH: bin() }) }
  const start = (args: readonly string[], more: Record<string, string> = {}, stdin?: Uint8Array) =>
    Bun.spawn([...words, ...args], {
      env: { ...env, ...more },
      stdin: stdin ?? 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  async function finish(child: ReturnType<typeof start>) {
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    await child.exited
    return { exitCode: child.exitCode, signal: child.signalCode as string | null, stdout, stderr }
  }
  return {
    ...user,
    path: env.PATH!,
    words,
    shellEnv: env,
    start,
    finish,
    run: (args: readonly string[], more?: Record<string, string>, stdin?: Uint8Array) =>
      finish(start(args, more, stdin)),
    /** Writes a private file of this user. */
    own(path: string, text: string) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { mode: 0o600 })
      if (isOther) for (const it of [dirname(path), path]) chownSync(it, NOBODY, NOBODY)
    },
    /** Names of the files in refused/, of whatever address and key. */
    refused: () =>
      (existsSync(user.stateDir) ? [...new Glob('*/refused/*.json').scanSync(user.stateDir)] : [])
        .map((path) => path.split('/').at(-1)!)
        .sort(),
    /** What the script should have removed. */
    leftovers: () => readdirSync(user.home).filter((name) => name.startsWith('stint.') && name !== 'stint.sh'),
  }
}
