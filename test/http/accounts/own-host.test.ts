import { expect, test } from 'bun:test'
import { createIsOwnHost } from '../../../src/http/accounts/own-host.ts'

const request = (host?: string) => new Request('http://localhost/', host === undefined ? {} : { headers: { host } })
const NAMED = createIsOwnHost(['stint.example.com', '[2001:db8::1]'], false)

test.each<[string | undefined, boolean]>([
  ['stint.example.com', true],
  ['Stint.Example.com:8443', true],
  ['stint.example.com.', true],
  ['[2001:db8::1]:7070', true],
  ['localhost:7070', true],
  ['127.0.0.1', true],
  [undefined, true],
  ['evil.example.com', false],
  ['stint.example.com.evil.example', false],
  ['xstint.example.com', false],
  ['192.0.2.1', false],
])('ALLOWED_HOSTS and the host %p: %p', (host, expected) => expect(NAMED(request(host))).toBe(expected))

test('without ALLOWED_HOSTS any name passes, or loopback names alone on a loopback address', () => {
  expect(createIsOwnHost([], false)(request('evil.example.com'))).toBe(true)
  expect(createIsOwnHost([], true)(request('evil.example.com'))).toBe(false)
  expect(createIsOwnHost([], true)(request('localhost'))).toBe(true)
})
