// The Dockerfile built by buildah and run by runc, without a daemon. The image that it builds upon is made here, of the pinned Bun on Debian,
// because a registry of images may be out of reach; where registries are behind a CA of one's own, its bundle goes into it, too.
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { closeAtEnd } from './leftovers.ts'
import { ROOT } from './readme.ts'
import { tempDir } from './temp-dir.ts'

const BUN = packageJson.engines.bun.replace('>=', '')
/** Debian without documentation, once per machine. */
const DEBIAN = join(homedir(), '.cache/stint/debian-bookworm.tar')
const USELESS = ['usr/share/doc', 'usr/share/locale', 'usr/share/man', 'var/cache/apt', 'var/lib/apt/lists']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Cmd: readonly string[]
  readonly WorkingDir: string
  readonly Volumes: Readonly<Record<string, object>>
  readonly Healthcheck: { readonly Test: readonly string[] }
}

export interface Image {
  readonly config: ImageConfig
  /** Its files, from the root. */
  readonly files: string
}

export interface RunOptions {
  /** Directories of this machine by where they are mounted. */
  readonly volumes: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
}

export interface Container {
  /** Runs a command in it, as its user. */
  exec(
    command: readonly string[],
    options?: { stdin?: string; env?: Readonly<Record<string, string>> },
  ): Promise<Output>
  signal(name: 'TERM' | 'KILL'): Promise<void>
  ended(): Promise<number>
  log(): string
}

interface Output {
  readonly exitCode: number
  readonly stdout: string
  /** Both streams. */
  readonly text: string
}

async function tryRun(command: readonly string[], env: Record<string, string> = {}, stdin = ''): Promise<Output> {
  const child = Bun.spawn([...command], {
    ...{ env: { ...process.env, ...env }, stdin: Buffer.from(stdin) },
    ...{ stdout: 'pipe', stderr: 'pipe' },
  })
  const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const [exitCode, [stdout, stderr]] = [await child.exited, await output]
  return { exitCode, stdout, text: stdout + stderr }
}

/** Resolves to its standard output. Throws with all of it when the command fails. */
async function run(command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, text } = await tryRun(command, env)
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed:\n${text}`)
  return stdout.trim()
}

export interface Builder {
  /** Builds a target of the Dockerfile. */
  build(target: string, commit: string): Promise<Image>
  close(): Promise<void>
}

export async function openBuilder(): Promise<Builder> {
  const store = tempDir('images')
  const place = ['--root', join(store, 'root'), '--runroot', join(store, 'run')]
  const isFast = (await tryRun(['buildah', '--storage-driver', 'overlay', ...place, 'info'])).exitCode === 0
  const driver = isFast ? 'overlay' : 'vfs'
  const buildah = (...args: string[]) =>
    run(['buildah', '--storage-driver', driver, ...place, ...args], { BUILDAH_ISOLATION: 'chroot' })
  await makeBase(buildah)
  return {
    async build(target, commit) {
      const file = join(ROOT, 'src/deploy/Dockerfile')
      const how = ['--format', 'docker', '--pull-never', '--network', 'host', '--build-arg', `commit=${commit}`]
      await buildah('bud', ...how, '-f', file, '--target', target, '-t', target, ROOT)
      const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', target))
      const files = await buildah('mount', await buildah('from', '--pull-never', target))
      return { config: Docker.config, files }
    },
    async close() {
      await buildah('rm', '--all')
      await buildah('rmi', '--all', '--force')
    },
  }
}

/** The image of the name that the Dockerfile asks for. */
async function makeBase(buildah: (...args: string[]) => Promise<string>): Promise<void> {
  if (!existsSync(DEBIAN)) {
    const root = join(tempDir('debian'), 'root')
    await run(['debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', root])
    await run(['rm', '-rf', ...USELESS.map((path) => join(root, path))])
    mkdirSync(join(DEBIAN, '..'), { recursive: true })
    await run(['tar', '-C', root, '-cf', `${DEBIAN}.${process.pid}`, '.'])
    renameSync(`${DEBIAN}.${process.pid}`, DEBIAN)
  }
  const base = await buildah('from', 'scratch')
  await buildah('add', base, DEBIAN, '/')
  await buildah('copy', base, process.execPath, '/usr/local/bin/bun')
  await buildah('run', base, 'useradd', '-u', '1000', '-m', 'bun')
  await buildah('config', '--env', `PATH=${PATH}`, base)
  const bundle = process.env.NODE_EXTRA_CA_CERTS
  if (bundle !== undefined) {
    await buildah('copy', base, bundle, '/etc/ssl/certs/ca-certificates.crt')
    await buildah('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt', base)
  }
  await buildah('commit', '--format', 'docker', base, `docker.io/oven/bun:${BUN}-slim`)
}

/** A new volume for `path`, owned as the image has it: engines initialise named volumes so. */
export function createVolume({ files }: Image, path: string): string {
  const volume = tempDir('volume')
  const { uid, gid } = statSync(join(files, path))
  chownSync(volume, uid, gid)
  return volume
}

let containers = 0

/** A container as docker-compose.yml has Stint's: read-only root, /tmp in memory, no capabilities and no way to get any; the network is the host's. */
export function startContainer({ config, files }: Image, options: RunOptions): Container {
  const dir = tempDir('container')
  const [id, state] = [`stint-${process.pid}-${++containers}`, join(dir, 'state')]
  const [, uid, gid] = new RegExp(`^${config.User}:x:(\\d+):(\\d+):`, 'm').exec(
    readFileSync(join(files, 'etc/passwd'), 'utf8'),
  )!
  const env = [...config.Env, ...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`)]
  const mount = (destination: string, type: string, source: string, ...flags: string[]) => ({
    destination,
    type,
    source,
    options: ['nosuid', 'nodev', ...flags],
  })
  writeFileSync(
    join(dir, 'config.json'),
    JSON.stringify({
      ociVersion: '1.0.2',
      process: {
        user: { uid: Number(uid), gid: Number(gid) },
        args: options.command ?? config.Cmd,
        env,
        cwd: config.WorkingDir,
        capabilities: {},
        noNewPrivileges: true,
      },
      root: { path: files, readonly: true },
      mounts: [
        { destination: '/proc', type: 'proc', source: 'proc' },
        { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
        mount('/sys/fs/cgroup', 'cgroup', 'cgroup', 'noexec', 'ro'),
        mount('/tmp', 'tmpfs', 'tmpfs', 'mode=1777'),
        ...Object.entries(options.volumes).map(([path, source]) =>
          mount(path.replace(/:ro$/, ''), 'bind', source, 'bind', path.endsWith(':ro') ? 'ro' : 'rw'),
        ),
      ],
      linux: { namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })) },
    }),
  )
  const runc = ['runc', '--root', state]
  // runc makes missing mount points; under the umask of a server in this process the image's user could not enter them
  const openly = ['/bin/sh', '-c', 'umask 022; exec "$@"', 'sh']
  const child = Bun.spawn([...openly, ...runc, 'run', '--bundle', dir, id], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let log = ''
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) log += Buffer.from(chunk).toString()
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)])
  closeAtEnd(() => tryRun([...runc, 'delete', '--force', id]))
  return {
    exec(command, { stdin = '', env: more = {} } = {}) {
      const given = Object.entries(more).flatMap(([name, value]) => ['--env', `${name}=${value}`])
      return tryRun([...runc, 'exec', ...given, id, ...command], {}, stdin)
    },
    async signal(name) {
      await run([...runc, 'kill', id, name])
    },
    async ended() {
      await collected
      return child.exited
    },
    log: () => log,
  }
}
