// Invalid environment variables are reported by name before any request, and a key is never shown.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCliConfig } from '../../src/cli/config.ts'
import { createPerson } from './cli-cast.ts'

const person = createPerson('http://127.0.0.1:1')
const SECRET = 'stint_secret'
const keyFile = (text: string) => {
  const path = join(person.home, 'key')
  writeFileSync(path, text)
  return path
}

test.each<[string, Record<string, string>, string]>([
  ['a key of two lines', { STINT_API_KEY: `${SECRET}\nb` }, 'invalid STINT_API_KEY: expected one key and nothing else'],
  ['a key with a space', { STINT_API_KEY: `${SECRET} b` }, 'invalid STINT_API_KEY: expected one key and nothing else'],
  [
    'a file of two lines',
    { STINT_API_KEY_FILE: keyFile(`${SECRET}\n${SECRET}\n`) },
    'invalid STINT_API_KEY_FILE: expected one key and nothing else',
  ],
  [
    'a service with a space',
    { STINT_API_KEY: SECRET, STINT_SERVICE: 'b d' },
    "invalid STINT_SERVICE: expected the server's SERVICE_NAME, made of letters, digits and -",
  ],
])('%s', async (_, env, message) => {
  expect(await person.run('timings', { env })).toEqual({ exitCode: 2, stdout: '', stderr: `stint: ${message}\n` })
})

test('white space around a key is not part of it', () => {
  expect(readCliConfig({ STINT_API_KEY: `${SECRET}\n` }).apiKey).toBe(SECRET)
  expect(readCliConfig({ STINT_API_KEY_FILE: keyFile(`  ${SECRET}\r\n`) }).apiKey).toBe(SECRET)
})
