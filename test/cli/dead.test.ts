// The dead letters of an account, from the command line.
import { expect, test } from 'bun:test'
import { toRecord } from '../../src/event/record.ts'
import { useApp } from '../support/app.ts'
import { cells, createPerson, type Ran } from './cli-cast.ts'

const app = await useApp()
const person = createPerson(app.url)
const run = (line: string | readonly string[], typed?: readonly string[]): Promise<Ran> =>
  person.run(line, { env: { STINT_API_KEY: app.keys.owner }, ...(typed && { typed }) })
const ask = async () => (await app.fetch('/api/dead', { key: app.keys.owner })).json
const list = async () => ((await ask()).dead as { id: string }[]).map(({ id }) => id)

const { account } = app
const common = { kind: 'exception', account, meta: '', stamp: { us: app.clock.wallUs(), sub: 0 } } as const
for (const process of ['first', 'second', 'third', 'fourth']) {
  const record = toRecord({ ...common, process, exception: `of ${process} \u001b[2J` })
  app.rooms.deadLetters.bury([{ destination: 'exceptions', account, reason: `refused: ${process}`, record }])
}
const ids = await list()

test('are listed with their reason', async () => {
  const rows = cells((await run('dead list')).stdout)
  expect(rows[0]).toEqual(['ID', 'BURIED', 'KIND', 'PROCESS', 'META', 'REASON'])
  expect(rows.slice(1).map((row) => [row[0], ...row.slice(2)])).toEqual(
    ['fourth', 'third', 'second', 'first'].map((name, i) => [ids[i]!, 'exception', name, '–', `refused: ${name}`]),
  )
  expect(JSON.parse((await run('dead list --all --json')).stdout)).toEqual(await ask())
})

test('are shown in full, one at a time', async () => {
  const shown = await run(['dead', 'show', ids[0]!])
  expect(shown.stdout).toContain('reason   refused: fourth\n')
  expect(shown.stdout).toContain('"exception": "of fourth \\u001b[2J"')
  expect(shown.stdout).not.toContain('\u001b')
  expect(JSON.parse((await run(['dead', 'show', ids[0]!, '--json'])).stdout)).toEqual((await ask()).dead[0])
  expect(await run('dead show 999999')).toMatchObject({
    exitCode: 1,
    stderr: 'stint: dead letter not found: 999999\n',
  })
})

test('are not dropped without confirmation', async () => {
  expect(await run(['dead', 'drop', ids[0]!])).toMatchObject({
    exitCode: 2,
    stderr: 'stint: cannot ask for confirmation: not a terminal; pass --yes\n',
  })
  const no = await run(['dead', 'drop', ids[0]!], ['n'])
  expect(no).toMatchObject({ exitCode: 1, stdout: '' })
  expect(no.stderr).toContain('Delete 1 dead letter? [y/N] ')
  expect(await list()).toEqual(ids)
  const yes = await run(['dead', 'drop', ids[0]!], ['y'])
  expect(yes).toMatchObject({ exitCode: 0, stdout: '1 dead letter deleted.\n' })
  expect(await list()).toEqual(ids.slice(1))
})

test('need to be named', async () => {
  for (const line of ['dead drop --yes', 'dead replay', 'dead replay 1 --all'])
    expect((await run(line)).exitCode).toBe(2)
})

test('are sent again when replayed', async () => {
  expect(await run(['dead', 'replay', ids[3]!])).toEqual({
    exitCode: 0,
    stdout: '1 dead letter sent to the store again.\n',
    stderr: '',
  })
  expect(await list()).toEqual(ids.slice(1, 3))
  expect(await app.events()).toMatchObject([{ process: 'first', exception: 'of first \u001b[2J' }])
})

test('a missing one is reported, the others are processed', async () => {
  const { exitCode, stderr } = await run(['dead', 'drop', '999999', ids[1]!, '--yes'])
  expect([exitCode, stderr]).toEqual([1, 'stint: 1 done; dead letter not found: 999999\n'])
  expect(await list()).toEqual([ids[2]!])
})

test('all of them, and none', async () => {
  expect(await run('dead drop --all --yes')).toMatchObject({
    exitCode: 0,
    stdout: '1 dead letter deleted.\n',
  })
  expect(await run('dead drop --all')).toMatchObject({ exitCode: 0, stdout: '0 dead letters deleted.\n' })
  expect(await run('dead list')).toMatchObject({ exitCode: 0, stdout: '', stderr: 'No dead letters.\n' })
})
