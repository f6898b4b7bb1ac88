// Draws places of src by the seed, breaks each in a copy of HEAD, and runs the tests nearest to it until one fails, the
// slow ones last.
// `--from` and `--to` select some.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from './random.ts'

const ROOT = join(import.meta.dir, '../..')
/** For all tests of one mutant; one that is caught in an endless loop is found out, too. */
const LIMIT_MS = 300_000
const TEST_LIMIT_MS = 120_000
const TESTS_MAX = { test: 20, slow: 5 }

/** The text between two offsets, and what replaces it. */
interface Place extends Record<'line' | 'from' | 'to', number> {
  readonly file: string
  readonly by: string
}

/** What replaces a match. */
const RULES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/(?<= )(===|!==)(?= )/g, (found) => (found === '===' ? '!==' : '===')],
  [/(?<= )(<=?|>=?)(?= )/g, (found) => (found.endsWith('=') ? found[0]! : `${found}=`)],
  [/(?<= )(&&|\|\|)(?= )/g, (found) => (found === '&&' ? '||' : '&&')],
  [/(?<=[\w)\]] )[+-](?= [\w(])/g, (found) => (found === '+' ? '-' : '+')],
  [/\b(true|false)\b/g, (found) => String(found === 'false')],
  [/(?<=\bif \()(?=[^)])/g, () => 'false && '],
  [/(?<=[ (])!(?=[\w(])/g, () => ''],
  [/(?<![\w.$-])\d+(?![\w.])/g, (found) => String(Number(found) + 1)],
  [/(?<=^ {2,})(?:await )?[a-z#][\w.#]*\(.*\)$/gm, () => 'void 0'],
]

const USAGE = 'usage: bun run mutants [--seed N] [--places N] [--from N] [--to N]'
const values = readArguments()

/** Numbers; anything else ends with the usage. */
function readArguments() {
  const given = { type: 'string' } as const
  try {
    const { values } = parseArgs({ options: { seed: given, places: given, from: given, to: given } })
    if (Object.values(values).every((value) => /^\d+$/.test(value))) return values
  } catch {} // an unknown argument
  console.error(USAGE)
  process.exit(process.argv[2] === '--help' ? 0 : 2)
}

/** The text with blanks instead of its comments and strings, of the same length. */
const codeOnly = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g, (found) =>
    found.replaceAll(/[^\n]/g, '\u0001'),
  )

const transpilers = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) }
const transpilerOf = (file: string) => transpilers[file.endsWith('x') ? 'tsx' : 'ts']
const transpile = (file: string, text: string): string | undefined => {
  try {
    return transpilerOf(file).transformSync(text)
  } catch {
    return undefined // the mutant does not parse
  }
}

function placesOf(file: string): Place[] {
  const code = codeOnly(readFileSync(join(ROOT, file), 'utf8'))
  return RULES.flatMap(([pattern, change]) =>
    [...code.matchAll(pattern)].map(({ index, 0: found }) => ({
      ...{ file, line: code.slice(0, index).split('\n').length, from: index },
      ...{ to: index + found.length, by: change(found) },
    })),
  )
}

const mutate = (text: string, { from, to, by }: Place): string => text.slice(0, from) + by + text.slice(to)

/** The same places for the same seed and sources; types are no places, because nothing runs there. */
function drawPlaces(): Place[] {
  const random = seededRandom(Number(values.seed ?? 1))
  const places = [...new Bun.Glob('src/**/*.{ts,tsx}').scanSync(ROOT)].sort().flatMap(placesOf)
  const drawn: Place[] = []
  while (drawn.length < Number(values.places ?? 40)) {
    const place = places[Math.floor(random() * places.length)]!
    const text = readFileSync(join(ROOT, place.file), 'utf8')
    const broken = transpile(place.file, mutate(text, place))
    if (broken !== undefined && broken !== transpile(place.file, text)) drawn.push(place)
  }
  return drawn
}

/** What a file runs that it does not import. */
const STARTS: Readonly<Record<string, readonly string[]>> = {
  'test/support/process.ts': ['src/main.ts'],
  'test/console/console-visit.ts': ['src/console/main.tsx'],
  'test/cli/exec/exec-cast.ts': ['src/cli/main.ts'],
  'src/deploy/pack/npm-packages.ts': ['src/client/stint.ts'],
}
const imports = new Map<string, readonly string[]>()

function importsOf(file: string): readonly string[] {
  const known = imports.get(file)
  if (known !== undefined) return known
  const found = transpilerOf(file)
    .scanImports(readFileSync(join(ROOT, file), 'utf8').replace(/^#!/, '//'))
    .filter(({ path }) => path.startsWith('.') && /\.tsx?$/.test(path))
    .map(({ path }) => join(dirname(file), path))
  found.push(...(STARTS[file] ?? []))
  imports.set(file, found)
  return found
}

/** The number of imports from one file to another; infinite where there is no way. */
function distance(from: string, target: string): number {
  const seen = new Set([from])
  for (let steps = 0, files = [from]; files.length > 0; steps++) {
    if (files.includes(target)) return steps
    files = files.flatMap(importsOf).filter((file) => !seen.has(file) && seen.add(file))
  }
  return Number.POSITIVE_INFINITY
}

/** Tests that reach the file, and those of its room; those of its name first, then by distance. */
function testsOf(file: string, kind: keyof typeof TESTS_MAX): string[] {
  const mirror = `${file.replace(/^src/, 'test').replace(/\.tsx?$/, '')}.${kind}.ts`
  const near = [dirname(mirror), mirror.split('/', 2).join('/')]
  return [...new Bun.Glob(`test/**/*.${kind}.ts`).scanSync(ROOT)]
    .map((path) => {
      const misses = near.filter((room) => !path.startsWith(`${room}/`)).length
      if (basename(path) === basename(mirror)) return { path, rank: misses - near.length }
      return { path, rank: Math.min(distance(path, file), misses > 0 ? 1e9 : 9) + 3 * misses }
    })
    .filter(({ rank }) => rank < 1e9)
    .sort((a, b) => a.rank - b.rank || (a.path < b.path ? -1 : 1))
    .slice(0, TESTS_MAX[kind])
    .map(({ path }) => path)
}

const copy = join(mkdtempSync(join(tmpdir(), 'stint-mutants-')), 'copy')
const git = (...args: string[]) => Bun.spawnSync(['git', ...args], { cwd: ROOT })
git('worktree', 'add', '--detach', copy, 'HEAD')
process.on('exit', () => {
  git('worktree', 'remove', '--force', copy)
  rmSync(dirname(copy), { recursive: true, force: true })
})
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
const options = { cwd: copy, stdin: 'ignore', timeout: TEST_LIMIT_MS } as const
const passes = (test: string) => Bun.spawnSync([process.execPath, 'test', '--bail', `./${test}`], options).success

let survivors = 0
for (const [i, place] of [...drawPlaces().entries()].slice(Number(values.from ?? 0), Number(values.to ?? 1e9))) {
  const path = join(copy, place.file)
  const text = readFileSync(path, 'utf8')
  const end = Date.now() + LIMIT_MS
  /** A test that also fails without the mutant, or for lack of time, says nothing. */
  const kills = (test: string): boolean => {
    writeFileSync(path, mutate(text, place))
    const isFine = passes(test)
    writeFileSync(path, text)
    return !isFine && passes(test)
  }
  const tests = [...testsOf(place.file, 'test'), ...testsOf(place.file, 'slow')]
  const killer = tests.find((test) => Date.now() < end && kills(test))
  if (killer === undefined) survivors++
  const change = `${text.slice(place.from, place.to)} → ${place.by}`.replaceAll(/\s+/g, ' ').slice(0, 60)
  console.log(
    `${i} ${place.file}:${place.line} ${change}: ${killer === undefined ? 'SURVIVED' : `killed by ${killer}`}`,
  )
}
console.log(`${survivors} survived`)
