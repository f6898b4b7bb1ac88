// A usage error of a question exits with 2, whether the command line or the server finds it.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { createPerson } from '../cli-cast.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const run = (line: string, key = app.keys.reader) => createPerson(app.url).run(line, { env: { STINT_API_KEY: key } })

test.each([
  ['timings --limit abc', '--limit must be'],
  ['timings --limit 0', '--limit must be'],
  ['timings --state foo', '--state must be one of'],
  ['timings --uid ABC', '--uid may only hold'],
  ['timings --from -1h --to -2h', '--from must be earlier'],
  ['metrics --every 5x', '--every must be'],
  ['dead list --limit 0', '--limit must be'],
])('stint %s: a value that the server refuses', async (line, said) => {
  const { exitCode, stdout, stderr } = await run(line)
  expect([exitCode, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`\n  ${said}`)
})

test.each([
  ['exceptions --groups --full', '--groups and --full exclude each other'],
  ['metrics --every 1h --all', '--every and --all exclude each other: intervals have no pages'],
])('stint %s: flags that mean nothing together', async (line, said) => {
  expect(await run(line)).toEqual({ exitCode: 2, stdout: '', stderr: `stint: ${said}\n` })
})

test('a key without the scope is a refusal, not a usage error', async () => {
  expect((await run('timings', app.keys.writer)).exitCode).toBe(1)
})
