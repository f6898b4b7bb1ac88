// The rules between rooms as a test: who may know whom, and who may touch time, chance, the environment and the exit.
// Imports may only point down MAY_IMPORT. Type imports count too: direction is about knowledge, not bundling.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')
const SRC = join(ROOT, 'src')
const LINES_MAX = 300

/** A room is a folder of src/, `root` its plain files (problem, log, clock, metrics, config), `wiring` main.ts, run-server.ts, service.ts and service/. */
const MAY_IMPORT: Record<string, string[]> = {
  root: [],
  event: ['root'],
  account: ['root', 'state', 'wire'],
  oidc: ['root', 'wire'],
  console: ['root', 'process', 'wire'],
  spool: ['root'],
  state: ['root'],
  wire: ['root', 'event'],
  client: ['wire'],
  store: ['root', 'event'],
  ship: ['root', 'event', 'spool', 'state', 'store'],
  live: ['root', 'event', 'spool', 'store', 'process', 'query', 'wire'],
  process: ['wire'], // the rules that live, the judge, questions and pages share: pure
  query: ['root', 'event', 'store', 'process', 'wire'],
  copy: ['root', 'event', 'store', 'state', 'ship'], // commands that work on the stores themselves
  watch: ['root', 'event', 'spool', 'process', 'wire', 'state', 'notify'],
  notify: ['root', 'process', 'wire'],
  http: ['root', 'event', 'account', 'oidc', 'spool', 'state', 'query', 'live', 'watch', 'process', 'wire'],
  cli: ['root', 'wire', 'client'], // the server itself only over HTTP
  demo: ['root', 'wiring'], // it starts the service in its own process
  deploy: ['root', 'store'], // dashboards ask the stores in the stores' own words
  wiring: [
    'root',
    'event',
    'account',
    'oidc',
    'console',
    'spool',
    'state',
    'store',
    'ship',
    'query',
    'live',
    'process',
    'watch',
    'notify',
    'wire',
    'http',
  ],
}

/** Only their types: HTTP is handed these rooms by service.ts and never reaches a store or the disk by itself. */
const MAY_IMPORT_TYPES: Record<string, string[]> = { http: ['ship', 'store', 'console', 'notify'] }

/** Commands that do not ask a server: `stint reset-password` works on DATA_DIR while it is stopped, `stint copy` on the stores themselves. */
const MAY_IMPORT_TOO: Record<string, string[]> = {
  'cli/server-accounts.ts': ['account', 'state', 'watch'],
  'cli/copy.ts': ['account', 'copy'],
  'cli/plan-healthchecks.ts': ['event', 'watch'], // the rules of names and of cron
}

/** The importers of each package: a room (`http`) or a single file (`log.ts`). Packages that are not named here are free. */
const PACKAGE_HOMES: [library: RegExp, homes: string[]][] = [
  [/^elysia(\/|$)|^@elysiajs\//, ['http']],
  [/^@sinclair\/typebox(\/|$)/, ['http', 'wire']],
  [/^swagger-ui-dist(\/|$)/, ['http']],
  [/^pino(\/|$)|^pino-pretty$/, ['log.ts']],
  [/^prom-client$/, ['metrics.ts']],
  [/^commander$/, ['cli']],
  [/^openid-client$/, ['oidc']],
  [/^preact(\/|$)/, ['console']],
  [/^bun:sqlite$/, ['account', 'state']],
  [/^@influxdata\//, ['store/influx']],
  [/^@clickhouse\/|^chdb(\/|$)/, ['store/clickhouse']],
]

/** Libraries that one single file of their room imports: what they can do is decided there and nowhere else. */
const ONE_IMPORTER = [
  '@influxdata/influxdb-client',
  '@clickhouse/client',
  'chdb',
  'commander',
  'openid-client',
  'pino',
  '@elysiajs/swagger',
]

/** Global powers, and the only files that may use them. A folder ends in a slash. */
const POWERS: [name: string, pattern: RegExp, homes: string[]][] = [
  [
    'the environment',
    /\bprocess\.env\b|\bBun\.env\b|\bimport\.meta\.env\b|\benv\b[^;\n]*=\s*process\b|\bprocess\[/,
    ['config.ts', 'cli/config.ts', 'client/settings.ts', 'main.ts', 'deploy/pack/'],
  ],
  [
    'the time',
    /\bDate\.now\b|\bnew Date\b(?!\s*\(\s*[^\s)])|(?<!new )\bDate\(|\bperformance\.(now|timeOrigin)\b|\bBun\.nanoseconds\b|\bhrtime\b/,
    ['clock.ts', 'client/event-times.ts'],
  ],
  ['the exit', /\bprocess\.(exit|abort|reallyExit)\b/, ['main.ts', 'run-server.ts', 'cli/main.ts', 'demo/main.ts']],
  ['chance', /\bMath\.random\b/, ['ship/backoff.ts', 'client/retry-pause.ts']],
  [
    'unguessable chance',
    /\bgetRandomValues\b|\brandom(Bytes|UUID|UUIDv7|Int|Fill|FillSync)\b/,
    [
      'watch/random-id.ts',
      'state/data-dir-lock.ts',
      'store/clickhouse/selection.ts',
      'account/',
      'cli/exec/',
      'cli/send.ts',
      'client/',
      'demo/',
      'deploy/',
    ],
  ],
]

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
const transpilerOf = (file: string) => transpilers[file.endsWith('.tsx') ? 'tsx' : 'ts']

/** Every module that a text names, relative or package, in whatever form. */
function findImports(text: string, file = ''): string[] {
  const quoted = String.raw`\s*(['"\x60])([\w@./:-]+)\1`
  const statically = String.raw`\s*(['"])([\w@./:-]+)\1`
  const forms = [
    `^\\s*(?:import|export)\\b[^'"\x60]*?\\bfrom${statically}`, // import … from, import type … from, export … from, over any number of lines
    `\\bimport\\s*\\(${quoted}`, // import('./x.ts'), as a value or as a type
    `\\brequire(?:\\.resolve)?\\s*\\(${quoted}`,
    `\\bimport\\.meta\\.resolve(?:Sync)?\\s*\\(${quoted}`,
    `\\bnew URL\\s*\\(${quoted}\\s*,\\s*import\\.meta\\.url`, // new Worker(new URL('./worker.ts', import.meta.url))
  ]
  const written = forms.flatMap((form) => [...text.matchAll(new RegExp(form, 'gm'))].map((match) => match[2]!))
  const loaded = loadedBy(text, file) // import './side-effect.ts', which text in a string may look like
  return [...new Set([...written, ...loaded])]
}

/** The element factory of JSX is named by the compiler's settings. */
const loadedBy = (text: string, file: string): string[] =>
  transpilerOf(file)
    .scanImports(text.replace(/^#!.*/, ''))
    .flatMap(({ path }) => (/^react$|\/jsx-(?:dev-)?runtime$/.test(path) ? [] : [path]))

const roomOf = (file: string): string => {
  if (['main.ts', 'run-server.ts', 'service.ts'].includes(file) || file.startsWith('service/')) return 'wiring'
  return file.includes('/') ? file.split('/')[0]! : 'root'
}

const isAt = (file: string, home: string): boolean => file === home || file.startsWith(home.replace(/\/?$/, '/'))

const files = [...new Glob('**/*.{ts,tsx}').scanSync(SRC)].sort()
const textOf = new Map(files.map((file) => [file, readFileSync(join(SRC, file), 'utf8')]))
/** What runs: no comments and no types. */
const codeOf = (file: string): string => transpilerOf(file).transformSync(textOf.get(file)!)

/** Modules that are gone when the types are. */
const typesOnly = (file: string): Set<string> => {
  const text = textOf.get(file)!
  const loaded = loadedBy(text, file)
  return new Set(findImports(text, file).filter((module) => !loaded.includes(module)))
}

const imports = files.flatMap((file) => findImports(textOf.get(file)!, file).map((module) => ({ file, module })))
const edges = imports
  .filter(({ module }) => module.startsWith('.') && !module.endsWith('/package.json')) // its version is for everyone
  .map(({ file, module }) => ({
    file,
    to: normalize(join(dirname(file), module)),
    isType: typesOnly(file).has(module),
  }))
const packages = imports.filter(({ module }) => !module.startsWith('.'))

const show = (found: { file: string; to?: string; module?: string }[]): string[] =>
  found.map(({ file, to, module }) => `${file} -> ${to ?? module}`)

describe('the finder of imports', () => {
  test.each([
    ["import a from './a.ts'"],
    ["import type { A } from './a.ts'"],
    ["import {\n  type A,\n  b,\n} from './a.ts'"],
    ["import './a.ts'"],
    ["export * from './a.ts'"],
    ["export type { A } from './a.ts'"],
    ["const a = await import('./a.ts')"],
    ["let a: import('./a.ts').A"],
    ["const a = require('./a.ts')"],
    ["new Worker(new URL('./a.ts', import.meta.url).href)"],
    ['import a from "./a.ts"'],
    ['await import(`./a.ts`)'],
    ['import "./a.ts"'],
  ])('sees %j', (text) => {
    expect(findImports(text)).toEqual(['./a.ts'])
  })
})

describe('finds every use of', () => {
  test.each([
    ['the environment', ['process.env.PORT', 'const { env } = process', "process['env']", 'Bun.env.PORT']],
    ['the time', ['Date.now()', 'new Date()', 'new Date', 'Date()', 'performance.now()', 'Bun.nanoseconds()']],
    ['the exit', ['process.exit(1)', 'process.abort()']],
    ['chance', ['Math.random()']],
    ['unguessable chance', ['crypto.getRandomValues(a)', 'randomBytes(24)', 'crypto.randomUUID()']],
  ])('%s', (power, samples) => {
    const [, pattern] = POWERS.find(([name]) => name === power)!
    expect(samples.filter((sample) => !pattern.test(sample))).toEqual([])
    expect(pattern.test('new Date(ms).toISOString(); exit(); environment')).toBe(false)
  })
})

describe('imports', () => {
  test('every room is known', () => {
    expect(files.filter((file) => MAY_IMPORT[roomOf(file)] === undefined)).toEqual([])
  })

  test('only point down the pipeline', () => {
    const wrong = edges.filter(({ file, to, isType }) => {
      const [from, target] = [roomOf(file), roomOf(to)]
      const allowed = [...MAY_IMPORT[from]!, ...(MAY_IMPORT_TOO[file] ?? [])]
      if (isType) allowed.push(...(MAY_IMPORT_TYPES[from] ?? []))
      return from !== target && !allowed.includes(target)
    })
    expect(show(wrong)).toEqual([])
  })

  test('use every arrow that is allowed', () => {
    const used = new Set(
      edges.flatMap(({ file, to }) => [roomOf(file), file].map((from) => `${from} -> ${roomOf(to)}`)),
    )
    const allowed = [MAY_IMPORT, MAY_IMPORT_TYPES, MAY_IMPORT_TOO]
      .flatMap(Object.entries<string[]>)
      .flatMap(([from, rooms]) => rooms.map((room) => `${from} -> ${room}`))
    expect(allowed.filter((arrow) => !used.has(arrow))).toEqual([])
  })

  test('name files that exist, with their ending', () => {
    const wrong = edges.filter(({ to }) => !textOf.has(to) && !/\.(m?js|css|html|json)$/.test(to))
    expect(show(wrong)).toEqual([])
  })

  test('are written out: a computed module name could point anywhere', () => {
    const computed = files.filter((file) => /\bimport\s*\(\s*[^'"`\s)]|\bimport\s*\(\s*`[^`]*\$\{/.test(codeOf(file)))
    expect(computed).toEqual([])
  })

  test('form no cycle of any length', () => {
    const next = Map.groupBy(edges, ({ file }) => file)
    const seen = new Map<string, 'open' | 'done'>()
    const circles: string[] = []
    const walk = (file: string, path: string[]) => {
      if (seen.get(file) === 'open') circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      if (seen.has(file)) return
      seen.set(file, 'open')
      for (const { to } of next.get(file) ?? []) walk(to, [...path, file])
      seen.set(file, 'done')
    }
    for (const file of files) walk(file, [])
    expect(circles).toEqual([])
  })

  test.each(PACKAGE_HOMES.map(([pattern, homes]) => ({ pattern, homes })))(
    'of $pattern stay at home',
    ({ pattern, homes }) => {
      const astray = packages.filter(
        ({ file, module }) => pattern.test(module) && !homes.some((home) => isAt(file, home)),
      )
      expect(show(astray)).toEqual([])
    },
  )

  test.each(ONE_IMPORTER)('of %s are in one file of its room', (library) => {
    const importers = new Set(
      packages.filter(({ module }) => module === library || module.startsWith(`${library}/`)).map(({ file }) => file),
    )
    expect([...importers].slice(1)).toEqual([])
  })

  test('of packages are of those that package.json lists', async () => {
    const { dependencies, optionalDependencies } = await Bun.file(join(ROOT, 'package.json')).json()
    const listed = Object.keys({ ...dependencies, ...optionalDependencies })
    const unlisted = packages.filter(
      ({ module }) =>
        !/^(node|bun):|^bun$/.test(module) && !listed.some((name) => module === name || module.startsWith(`${name}/`)),
    )
    expect(show(unlisted)).toEqual([])
  })
})

test.each(POWERS)('%s is touched only where it belongs', (_, pattern, homes) => {
  const astray = files.filter((file) => !homes.some((home) => isAt(file, home)) && pattern.test(codeOf(file)))
  expect(astray).toEqual([])
})

describe('files', () => {
  test(`have at most ${LINES_MAX} lines`, () => {
    const long = files.filter((file) => textOf.get(file)!.trimEnd().split('\n').length > LINES_MAX)
    expect(long).toEqual([])
  })

  test('begin with a comment on their purpose', () => {
    const silent = files.filter((file) => !/^(#!.*\n)?\/\/ \S/.test(textOf.get(file)!))
    expect(silent).toEqual([])
  })

  test('are named in kebab-case for what they export, not for being many things', () => {
    const vague = /^(index|utils?|helpers?|common|types|misc|shared|lib)\.ts$/
    expect(
      files.filter((file) => !/^[a-z0-9-]+(\.d)?\.tsx?$/.test(basename(file)) || vague.test(basename(file))),
    ).toEqual([])
  })

  test('are not barrel files', () => {
    const passesOn = /\bexport\s+(type\s+)?(\*|\{[^}]*\})\s*(as\s+\w+\s+)?from\s*['"]\./
    expect(files.filter((file) => passesOn.test(textOf.get(file)!))).toEqual([])
  })

  test('the top of the repository holds only the listed files', async () => {
    const top = 'src test docker-compose.yml bunfig.toml package.json tsconfig.json README.md bun.lock LICENSE'.split(
      ' ',
    )
    const git = Bun.spawnSync(['git', 'ls-tree', '--name-only', 'HEAD'], { cwd: ROOT })
    if (git.exitCode !== 0) return // no repository here: an unpacked copy
    const tracked = git.stdout.toString().trim().split('\n')
    expect(tracked.filter((name) => !name.startsWith('.') && !top.includes(name))).toEqual([])
  })
})
