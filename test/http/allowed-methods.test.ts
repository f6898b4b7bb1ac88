import { expect, test } from 'bun:test'
import { createAllowedMethods } from '../../src/http/error-to-problem.ts'

const allowed = createAllowedMethods(() => [
  { method: 'GET', path: '/api/keys' },
  { method: 'POST', path: '/api/keys' },
  { method: 'DELETE', path: '/api/keys/:id' },
  { method: 'POST', path: '/api/keys/:id/rotate' },
  { method: 'GET', path: '/api/keys/confirm' },
  { method: 'GET', path: '/swagger/assets/page.js' },
  { method: 'POST', path: '/ping/*' },
])

test('a known path lists its methods, HEAD with GET', () => {
  expect(allowed('/api/keys')).toBe('GET, HEAD, POST')
  expect(allowed('/api/keys/key_1')).toBe('DELETE')
  expect(allowed('/api/keys/key_1/rotate')).toBe('POST')
  expect(allowed('/ping/token/process/start')).toBe('POST')
})

test('a path without parameters takes precedence over one with parameters', () => {
  expect(allowed('/api/keys/confirm')).toBe('GET, HEAD')
})

test('an unknown path lists no methods', () => {
  for (const path of ['/', '/api/key', '/api/keys/', '/api/keys/a/b', '/x/api/keys', '/swagger/assets/pageXjs'])
    expect(allowed(path)).toBeUndefined()
})
