// A real PostgreSQL server on a free port of the loopback, with its files in memory where there is room. It dies with the test run however that ends.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Glob, SQL } from 'bun'
import { takePort } from './ports.ts'
import { inMemoryDir } from './temp-dir.ts'
import { until } from './until.ts'

/** The newest one that Debian's package has put there, or undefined. */
export function findPostgres(): string | undefined {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return undefined
  const found = [...new Glob('*/bin/initdb').scanSync(root)].sort(
    (a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10),
  )[0]
  return found === undefined ? undefined : join(root, found, '..')
}

export interface PostgresServer {
  /** Resolves to the URL of a new, empty database. */
  createDatabase(): Promise<string>
  /** Fast shutdown (SIGINT); `start` starts it again. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Suspends all processes of the server until `resume`: connections stay open and get no answer. */
  pause(): void
  resume(): void
  /** Copies all databases while they are used. */
  backUp(): Promise<void>
  /** Replaces all databases with the newest copy; the server is away meanwhile. */
  restore(): Promise<void>
  /** The whole log. */
  log(): string
  close(): Promise<void>
}

/** The server refuses to run as root. */
const AS_POSTGRES =
  process.getuid?.() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : []
/** Runs a command, and ends it at once (SIGQUIT) when our end of the pipe closes. */
const DIES_WITH_US = 'exec 3<&0; "$@" <&- & server=$!; { cat <&3; kill -QUIT $server; } 2>&- & wait $server'

/** `settings` as in postgresql.conf. */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const bin = findPostgres()!
  const dir = inMemoryDir()
  const port = takePort()
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
  const logPath = join(dir, 'log')
  let child: Bun.Subprocess | undefined
  let databases = 0

  function runNow(...command: string[]): void {
    const { success, stderr } = Bun.spawnSync(command, { cwd: dir })
    if (!success) throw new Error(`${command[0]} failed: ${stderr}`)
  }

  async function start(): Promise<void> {
    const all = {
      fsync: 'off',
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      ...settings,
    }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = [...AS_POSTGRES, join(bin, 'postgres'), '-D', join(dir, 'data'), ...flags]
    child = Bun.spawn(['bash', '-c', `${DIES_WITH_US}`, 'bash', ...server], {
      cwd: dir,
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: Bun.file(logPath),
    })
    await until('PostgreSQL answers', async () => {
      if (child?.exitCode !== null) throw new Error(`PostgreSQL ended: ${log()}`)
      return answers(urlOf('postgres'))
    })
  }

  let earlierLogs = ''
  const log = () => earlierLogs + (existsSync(logPath) ? readFileSync(logPath, 'utf8') : '')
  const postmaster = () => Number(readFileSync(join(dir, 'data/postmaster.pid'), 'utf8').split('\n')[0])

  async function stop(): Promise<void> {
    if (child === undefined) return
    process.kill(postmaster(), 'SIGINT')
    await child.exited
    earlierLogs = log()
    rmSync(logPath, { force: true })
    child = undefined
  }

  function signalAll(signal: 'SIGSTOP' | 'SIGCONT'): void {
    const pid = postmaster()
    const { stdout } = Bun.spawnSync(['pgrep', '-P', String(pid)])
    for (const one of [pid, ...stdout.toString().trim().split('\n').filter(Boolean).map(Number)])
      try {
        process.kill(one, signal)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // its connection ended meanwhile
      }
  }

  runNow('chmod', '711', dir)
  runNow('mkdir', 'data')
  if (AS_POSTGRES.length > 0) runNow('chown', 'postgres:postgres', 'data')
  runNow(
    ...AS_POSTGRES,
    join(bin, 'initdb'),
    '-D',
    join(dir, 'data'),
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--no-sync',
  )
  await start()

  return {
    async createDatabase() {
      const name = `stint_${++databases}`
      const sql = new SQL(urlOf('postgres'))
      await sql.unsafe(`CREATE DATABASE ${name}`)
      await sql.close()
      return urlOf(name)
    },
    stop,
    start,
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async backUp() {
      rmSync(join(dir, 'backup'), { recursive: true, force: true })
      runNow('mkdir', '-m', '700', 'backup')
      if (AS_POSTGRES.length > 0) runNow('chown', 'postgres:postgres', 'backup')
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-c', 'fast', '--no-sync']
      const copy = Bun.spawn([...AS_POSTGRES, join(bin, 'pg_basebackup'), '-D', 'backup', ...from], { cwd: dir })
      if ((await copy.exited) !== 0) throw new Error('pg_basebackup failed')
    },
    async restore() {
      await stop()
      rmSync(join(dir, 'data'), { recursive: true })
      runNow('mv', 'backup', 'data')
      await start()
    },
    log,
    async close() {
      await stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const sql = new SQL(url, { max: 1, connectionTimeout: 1 })
  try {
    await sql.unsafe('SELECT 1')
    return true
  } catch {
    return false // it is still starting
  } finally {
    await sql.close()
  }
}

let shared: Promise<PostgresServer> | undefined

/** One server for all test files of this process. */
export const sharedPostgres = (): Promise<PostgresServer> => {
  shared ??= startPostgres()
  return shared
}
