// `bun run release` in a clone of what is here: it refuses with every reason, and the same commit gives the same bytes.
import { beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { ROOT, readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'

const { version } = packageJson
/** Those that take less than a second. */
const PARTS = ['client', 'server', 'image', 'deploy']
const AUTHOR = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
const clone = join(tempDir('release'), 'clone')

function git(...args: string[]): void {
  const { success, stderr } = Bun.spawnSync(['git', ...AUTHOR, ...args], { cwd: clone })
  if (!success) throw new Error(stderr.toString())
}

function release(args: readonly string[], cwd = tempDir('dist')) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, join(clone, 'src/deploy/pack/release.ts'), ...args],
    { cwd, env: { ...process.env, SOURCE_DATE_EPOCH: '1' } },
  )
  return { exitCode, stdout: stdout.toString(), stderr: stderr.toString(), dist: join(cwd, 'dist') }
}

beforeAll(() => {
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  for (const path of new Set(listed.stdout.toString().split('\0').filter(Boolean))) {
    if (path.startsWith('test/')) continue
    mkdirSync(dirname(join(clone, path)), { recursive: true })
    cpSync(join(ROOT, path), join(clone, path))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  writeFileSync(join(clone, '.gitignore'), `${readRepo('.gitignore')}node_modules\n`)
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-q', '-m', 'all')
})

test('builds what a release has, and twice the same bytes', () => {
  const first = release(['--skip-tests', ...PARTS])
  expect([first.exitCode, first.stderr]).toEqual([0, ''])
  expect(first.stdout).not.toContain('FAILED')
  expect(first.stdout).toContain('The tests were skipped: this is no release.')
  const files = readdirSync(first.dist)
  for (const name of files) expect(first.stdout).toContain(name)
  const bytesOf = (dist: string) =>
    readdirSync(dist).map((name) => `${name} ${Bun.hash(readFileSync(join(dist, name)))}`)
  expect(bytesOf(release(['--skip-tests', ...PARTS]).dist)).toEqual(bytesOf(first.dist))

  for (const line of readFileSync(join(first.dist, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
    const [sum, name] = line.split('  ')
    expect(
      createHash('sha256')
        .update(readFileSync(join(first.dist, name!)))
        .digest('hex'),
    ).toBe(sum!)
  }
  const head = Bun.spawnSync(['git', 'show', '-s', '--format=%ct', 'HEAD'], { cwd: clone }).stdout.toString()
  const unpacked = tempDir('unpacked')
  for (const name of ['image', 'deploy']) {
    const tar = Bun.spawnSync(['tar', '-xzf', join(first.dist, `stint-${name}-${version}.tar.gz`), '-C', unpacked])
    expect([tar.exitCode, tar.stderr.toString()]).toEqual([0, ''])
    expect(statSync(join(unpacked, `stint-${name}-${version}`, 'LICENSE')).mtimeMs).toBe(Number(head) * 1_000)
  }
  const inImage = (path: string) => readFileSync(join(unpacked, `stint-image-${version}`, path), 'utf8')
  for (const path of ['src/main.ts', 'bun.lock', '.dockerignore', 'docker-compose.yml', 'src/deploy/Dockerfile'])
    expect(inImage(path)).toBe(readRepo(path))
  expect(JSON.parse(inImage('package.json'))).toEqual({
    ...packageJson,
    gitHead: expect.stringMatching(/^[0-9a-f]{40}$/),
  })
  const deployed = readdirSync(join(unpacked, `stint-deploy-${version}`))
  expect(deployed.sort()).toEqual([
    'LICENSE',
    'env.example',
    'grafana',
    'kubernetes',
    'kubernetes-embedded',
    'prometheus-rules.yml',
    'prometheus-stint-rules.yml',
    'prometheus.yml',
    'stint.service',
  ])
})

test('refuses with every reason at once, and builds nothing', () => {
  const changes = join(clone, 'src/CHANGELOG.md')
  const text = readFileSync(changes, 'utf8')
  writeFileSync(changes, text.replace(`## ${version}`, '## 9.9.9'))
  const manifest = join(clone, 'src/deploy/kubernetes/stint.yaml')
  const yaml = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, yaml.replace(`image: stint:${version}`, 'image: stint:0.9.0'))
  const cwd = tempDir('refused')
  const { exitCode, stdout, stderr } = release([], cwd)
  writeFileSync(changes, text)
  writeFileSync(manifest, yaml)
  expect([exitCode, readdirSync(cwd)]).toEqual([1, []])
  expect(stdout).toContain('FAILED   nothing uncommitted: M src/CHANGELOG.md and 1 more: commit or remove it')
  expect(stdout).toContain(`FAILED   an entry in src/CHANGELOG.md: the first entry is of 9.9.9`)
  expect(stdout).toContain(`src/deploy/kubernetes/stint.yaml says 0.9.0`)
  expect(stderr).toContain('Not a release: 3 checks failed.')
})

test('refuses a version that another commit has', () => {
  git('tag', `v${version}`)
  git('commit', '-q', '--allow-empty', '-m', 'more')
  const { exitCode, stdout } = release(['--skip-tests', 'deploy'])
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining('raise the version in package.json')])
  git('tag', '-d', `v${version}`)
})

test.each([
  ['--help', 0],
  ['--skip-test', 2],
])('%s prints the usage', (option, exit) => {
  const { exitCode, stdout, stderr } = release([option])
  expect([exitCode, stdout + stderr]).toEqual([exit, expect.stringContaining('Usage: bun run release [--skip-tests]')])
})

test('the version is that of package.json everywhere it is named', async () => {
  const { VERSION_PLACES } = await import('../../src/deploy/pack/release.ts')
  for (const [path, pattern] of VERSION_PLACES) {
    const text = readRepo(path)
    const named = pattern.global ? [...text.matchAll(pattern)] : [pattern.exec(text)!]
    expect([path, ...new Set(named.map(([, found]) => found))]).toEqual([path, version])
  }
})
