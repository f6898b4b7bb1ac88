// A forgotten password is reset in the DATA_DIR of a real server that runs, is stopped, and runs again.
import { expect, test } from 'bun:test'
import { ADA } from '../account/accounts-cast.ts'
import { createStintProcess } from '../support/process.ts'
import { createPerson } from './cli-cast.ts'

test('resets a forgotten password with the real server', async () => {
  await using server = createStintProcess()
  const person = createPerson(server.url)
  const env = { DATA_DIR: server.dataDir }
  await server.start()
  const create = await person.run(`account create --email ${ADA.email} --password-stdin`, { stdin: ADA.password })
  expect(create.stderr).toContain('created')
  const key = create.stdout.trim()
  const start = () =>
    fetch(`${server.url}/v1/start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-stint-api-key': key },
      body: '{"process":"hello"}',
    })
  expect((await start()).status).toBe(201)
  const login = `login --email ${ADA.email} --password-stdin`
  expect((await person.run(login, { stdin: ADA.password })).exitCode).toBe(0)

  const line = `reset-password --email ${ADA.email} --password-stdin`
  const running = await person.run(line, { stdin: 'a new beginning', env })
  expect(running.exitCode).toBe(1)
  expect(running.stderr).toContain('is in use by another Stint')
  expect(await server.terminate()).toBe(0)
  expect((await person.run(line, { stdin: 'a new beginning', env })).exitCode).toBe(0)

  await server.start()
  expect((await person.run(login, { stdin: ADA.password })).exitCode).toBe(1)
  expect((await person.run(login, { stdin: 'a new beginning' })).exitCode).toBe(0)
  expect((await start()).status).toBe(201)
  expect(server.log()).not.toContain(key)
  expect(server.log()).not.toContain('beginning')
})
