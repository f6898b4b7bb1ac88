import { expect, test } from 'bun:test'
import { createAllowedMethods } from '../../src/http/allowed-methods.ts'

const allowed = createAllowedMethods(() => [
  { method: 'GET', path: '/api/keys' },
  { method: 'POST', path: '/api/keys' },
  { method: 'DELETE', path: '/api/keys/:id' },
  { method: 'POST', path: '/api/keys/:id/rotate' },
  { method: 'GET', path: '/api/keys/confirm' },
  { method: 'GET', path: '/swagger/assets/page.js' },
])

test('a path that is known says what it takes, HEAD with GET', () => {
  expect(allowed('/api/keys')).toBe('GET, HEAD, POST')
  expect(allowed('/api/keys/key_1')).toBe('DELETE')
  expect(allowed('/api/keys/key_1/rotate')).toBe('POST')
})

test('a path without parameters hides one with, as in the router', () => {
  expect(allowed('/api/keys/confirm')).toBe('GET, HEAD')
})

test('a path that is not known says nothing', () => {
  for (const path of ['/', '/api/key', '/api/keys/', '/api/keys/a/b', '/x/api/keys', '/swagger/assets/pageXjs'])
    expect(allowed(path)).toBeUndefined()
})
