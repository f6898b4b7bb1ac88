// The types that Stint hands out are those of the client, and complete: a program without other types compiles with them.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type * as declared from '../../src/client/declarations/stint.d.ts'
import * as client from '../../src/client/stint.ts'
import { ROOT, readRepo } from '../support/readme.ts'

const PATH = 'src/client/declarations/stint.d.ts'

test('the client exports what is declared, with these types', () => {
  const exported: typeof declared = client // the compiler compares them
  const names = [...readRepo(PATH).matchAll(/^export declare (?:const|function) (\w+)/gm)].map(([, name]) => name!)
  expect(Object.keys(exported).sort()).toEqual(names.sort())
})

test('the declarations need no others', () => {
  const options = '--noEmit --strict --ignoreConfig --skipLibCheck false --target esnext --lib esnext --types'.split(
    ' ',
  )
  const words = [join(ROOT, 'node_modules/.bin/tsc'), ...options, '', join(ROOT, PATH)]
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, ...words])
  expect([exitCode, stdout.toString()]).toEqual([0, ''])
})
