// What comes from elsewhere: pinned, with a hash, under a licence that allows what we do, run by nobody at installation, and with a reason.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { readPackageJson } from '../../../src/deploy/pack/sources.ts'
import { sectionUnder } from '../../support/readme.ts'
import { readLock } from './read-lock.ts'

const ROOT = join(import.meta.dir, '../../..')
const ALLOWED = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'MIT OR Apache-2.0',
  '(MIT OR CC0-1.0)',
  'MIT OR CC0-1.0',
  'BlueOak-1.0.0',
  'Unlicense',
  'OFL-1.1', // a font, served as it is
]
/** Only used by tests, and not linked with anything. */
const ALLOWED_FOR_TESTS: Readonly<Record<string, string>> = { 'axe-core': 'MPL-2.0' }

const packages = readLock()
const { dependencies, devDependencies, optionalDependencies, trustedDependencies } = readPackageJson()
const direct = { ...dependencies, ...devDependencies, ...optionalDependencies }

test('every package in the lock file has a SHA-512', () => {
  expect(packages.length).toBeGreaterThan(50)
  expect(packages.filter(({ integrity }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))).toEqual([])
})

test('every version is exact and matches the lock file', () => {
  expect(Object.entries(direct).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  const locked = new Map(packages.map(({ place, version }) => [place, version]))
  expect(Object.entries(direct).filter(([name, version]) => locked.get(name) !== version)).toEqual([])
})

test('no package runs install scripts', async () => {
  expect(trustedDependencies).toEqual([])
  expect(await Bun.file(join(ROOT, 'bunfig.toml')).text()).toMatch(/^ignoreScripts = true$/m)
})

test('every licence is allowed; packages that are not installed are for another platform', () => {
  const wrong = packages.filter(({ name, licence, isOptional }) =>
    licence === undefined ? !isOptional : !ALLOWED.includes(licence) && ALLOWED_FOR_TESTS[name] !== licence,
  )
  expect(wrong).toEqual([])
  expect(Object.keys(ALLOWED_FOR_TESTS).filter((name) => name in dependencies)).toEqual([])
})

test('src/README.md gives a reason for exactly the dependencies', () => {
  const section = sectionUnder('src/README.md', 'Dependencies')
  const rows = [...section.matchAll(/^\| (`[^|]+`) +\| ([^|]+) \|$/gm)]
  const named = rows.flatMap(([, names]) => [...names!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!))
  expect(named.sort()).toEqual(Object.keys(direct).sort())
  expect(rows.filter(([, , reason]) => reason!.trim().length < 10)).toEqual([])
})
