// The shell client and its surroundings: variables and files of the caller stay as they are, the key is in no file,
// and none is left in TMPDIR.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { ROOT } from '../support/readme.ts'
import { type RealStint, startRealStint } from '../support/real-stint.ts'
import { until } from '../support/until.ts'
import { createShellUser, KINDS, type ShellUser } from './sh-cast.ts'

const SCRIPT = readFileSync(join(ROOT, 'src/client/sh/stint.sh'), 'utf8')
/** Set for one program or for the shell itself. */
const NOT_OURS = ['IFS', 'LC_ALL', 'PATH', 'WGETRC', 'NAME', '_']
/** All names that the script gives a value, with some of its awk program. */
const NAMES = [
  ...SCRIPT.matchAll(/(?<![\w$\\"'-])([A-Za-z_]\w*)=(?!=)/g),
  ...SCRIPT.matchAll(/for (\w+) in/g),
  ...SCRIPT.matchAll(/read -r (\w+)/g),
]
  .map(([, name]) => name!)
  .filter((name) => !NOT_OURS.includes(name) && !name.startsWith('_stint'))

/** More than the script keeps in one file. */
const MORE_BYTES = 40 * 2 ** 20

const created: ShellUser[] = []
afterAll(() => {
  for (const user of created) user.remove()
})

describe.skipIf(missing('shells') !== undefined).each(Object.entries(KINDS))('in %s', (_, kind) => {
  let stint: RealStint
  beforeAll(async () => {
    stint = await startRealStint()
  })
  afterAll(() => stint.stop())
  const createOne = () => {
    const user = createShellUser(stint.url, kind, stint.key)
    created.push(user)
    return user
  }

  test('variables of the caller change nothing, stay as they are for the command, and their files stay', async () => {
    const user = createOne()
    const [precious, beside] = [join(user.home, 'precious'), join(user.home, 'precious.txt')]
    for (const path of [precious, beside]) user.own(path, 'x')
    const theirs = Object.fromEntries(NAMES.map((name) => [name, `the "caller's" $${name}`]))
    const env = { ...theirs, tmp: precious, mark: beside }
    const ended = await user.run(['exec', '--process', 'job', '--no-output', '--', 'sh', '-c', 'env; exit 3'], env)
    expect([ended.exitCode, ended.stderr]).toEqual([3, ''])
    const seen = ended.stdout.split('\n')
    expect(Object.entries(env).filter(([name, value]) => !seen.includes(`${name}=${value}`))).toEqual([])
    expect(await stint.runs('job')).toMatchObject([{ state: 'failed', exceptions: ['sh: exited with code 3'] }])
    expect((await user.run(['exec', '--', 'no-such-command'], { tmp: precious })).exitCode).toBe(127)
    const uid = (await user.run(['start', 'single'], env)).stdout.trim()
    for (const words of [
      ['metric', 'single', '--uid', uid, 'rows=3'],
      ['exception', 'single', '--uid', uid, 'why'],
      ['end', 'single', '--uid', uid],
    ])
      expect(await user.run(words, env)).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await user.run(['flush'], env)).stdout).toBe('0 sent, 0 refused, 0 left\n')
    expect(await stint.runs('single')).toMatchObject([{ uid, metrics: { rows: 3 }, exceptions: ['why'] }])
    for (const path of [precious, beside]) expect([path, existsSync(path)]).toEqual([path, true])
  })

  test('a process that the command leaves running writes on, and no temporary file stays behind', async () => {
    const user = createOne()
    const [go, over] = [join(user.home, 'go'), join(user.home, 'over')]
    const more = `head -c ${MORE_BYTES} /dev/zero >&2; echo >${over}`
    const child = user.start(
      ['exec', '--', 'sh', '-c', `(while [ ! -e ${go} ]; do sleep 0.05; done; ${more}) & exit 5`],
      { TMPDIR: user.home },
    )
    const stderr = new Response(child.stderr).bytes()
    expect(await child.exited).toBe(5)
    expect(user.leftovers()).toEqual([])
    user.own(go, '')
    expect((await stderr).length).toBe(MORE_BYTES)
    expect(existsSync(over)).toBe(true)
    await until('the end of all parts of the script', () => !isRunning(user.words.at(-1)!))
    expect(user.leftovers()).toEqual([])
  })
})

test.skipIf(missing('shells') !== undefined).each<[string, string, Record<string, string>]>([
  ['a Perl that does not start', 'exit 1', {}],
  ['settings of Perl', '', { PERL_UNICODE: 'SDA', PERL5OPT: '-MNo::Such', LC_ALL: 'xx_XX' }],
])('every byte passes and the end is kept with %s', async (_, perl, env) => {
  await using stint = await startRealStint()
  const user = createShellUser(stint.url, KINDS.dash!, stint.key)
  created.push(user)
  const programs = join(user.home, 'programs')
  mkdirSync(programs)
  if (perl !== '') writeFileSync(join(programs, 'perl'), `#!/bin/sh\n${perl}\n`, { mode: 0o755 })
  const script =
    'i=0; while [ $i -lt 9000 ]; do i=$((i+1)); echo "line $i"; done; printf "\\377\\303\\251 last"; exit 3'
  const child = user.start(['exec', '--process', 'job', '--', 'sh', '-c', `{ ${script}; } >&2`], {
    ...env,
    PATH: `${programs}:${user.path}`,
  })
  const stderr = Buffer.from(await new Response(child.stderr).bytes())
  expect([await child.exited, stderr.length]).toEqual([3, 88_901])
  expect(stderr.subarray(-8)).toEqual(Buffer.from('\xff\xc3\xa9 last', 'latin1'))
  const [run] = await stint.runs('job')
  expect(run!.exceptions[0]).toEndWith('\nline 9000\n\ufffdé last')
  expect(run!.exceptions[0]!.length).toBe('sh: exited with code 3\n'.length + 12_000)
})

describe.skipIf(missing('shells') !== undefined || Bun.which('perl') === null)(
  'where there is Perl, a reader that goes away',
  () => {
    async function createOne() {
      const stint = await startRealStint()
      const user = createShellUser(stint.url, KINDS.dash!, stint.key)
      created.push(user)
      const at = (name: string) => join(user.home, name)
      const wait = (name: string) => `while [ ! -e ${at(name)} ]; do sleep 0.05; done`
      const pipeTo = (reader: string, job: string) => {
        writeFileSync(at('job.sh'), job)
        const exec = [...user.words, 'exec', '--process', 'job', '--', 'sh', at('job.sh')].join(' ')
        const env = { ...user.shellEnv, TMPDIR: user.home }
        return Bun.spawn(['sh', '-c', `{ ${exec}; : >${at('over')}; } 2>&1 | { ${reader}; : >${at('closed')}; }`], {
          env,
        })
      }
      return { stint, user, at, wait, pipeTo, [Symbol.asyncDispose]: () => stint.stop() }
    }

    test('does not take the reason with it', async () => {
      await using one = await createOne()
      await one.pipeTo('exec 0<&-', `${one.wait('closed')}; echo reason; exit 3`).exited
      expect((await one.stint.runs('job'))[0]!.exceptions).toEqual(['sh: exited with code 3\nreason'])
    })

    test('after the end of the run leaves no temporary file behind', async () => {
      await using one = await createOne()
      const { user, at, wait } = one
      const writer = `${wait('over')}; echo late; ${wait('go')}; while echo more; do :; done`
      const piped = one.pipeTo('read -r reason; read -r late; exec 0<&-', `(${writer}) & echo reason; exit 3`)
      await until('the reader is gone', () => existsSync(at('closed')))
      await until('cat has taken the place of Perl', () => !isRunning(`${user.home}/stint.`, 'sysread'))
      writeFileSync(at('go'), '')
      await piped.exited
      await until('the end of all parts of the script', () => !isRunning(user.words.at(-1)!))
      expect(user.leftovers()).toEqual([])
    })
  },
)

/** Is a process running whose command line has all of this? */
const isRunning = (...words: readonly string[]) =>
  readdirSync('/proc').some((pid) => {
    try {
      const line = /^\d+$/.test(pid) ? readFileSync(join('/proc', pid, 'cmdline'), 'utf8') : ''
      return words.every((word) => line.includes(word))
    } catch {
      return false // has just ended
    }
  })

test.skipIf(missing('shells') !== undefined || Bun.which('strace') === null).each(['bash', 'bash --posix'])(
  'in %s as before 5.1, which keeps here-documents in files, the key is in none',
  async (name) => {
    await using stint = await startRealStint()
    const user = createShellUser(stint.url, KINDS[name]!, stint.key)
    created.push(user)
    const trace = join(user.home, 'trace')
    const run = (compat: string) => {
      const words = ['strace', '-f', '-q', '-o', trace, '-e', 'trace=openat', ...user.words]
      const env = { ...user.shellEnv, BASH_COMPAT: compat }
      return Bun.spawn([...words, 'metric', 'job', 'rows=1'], { env, stdin: 'ignore' }).exited
    }
    for (const compat of ['5.0', '44']) {
      expect(await run(compat)).toBe(0)
      const files = [...readFileSync(trace, 'utf8').matchAll(/openat\(\w+, "[^"]*sh-thd[^"]*", O_[A-Z|_]*CREAT/g)]
      expect(files).toHaveLength(1) // the metrics
    }
    expect(await stint.metrics('job')).toEqual({ rows: 1 })
  },
)
