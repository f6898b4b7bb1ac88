import { expect, test } from 'bun:test'
import { clientAddress, createIsOwnHost, isForwardedSecure } from '../../src/http/request-origin.ts'

const PEER = '192.0.2.1'
const request = (forwarded?: string) =>
  new Request('http://localhost/', forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } })

const LONG = '1.1.1.1, 203.0.113.9, 198.51.100.2'
test.each<[forwarded: string | undefined, proxies: number, address: string]>([
  // without trusted proxies the address of the connection, then as many entries from the end: callers wrote those before
  ['203.0.113.9', 0, PEER],
  [undefined, 0, PEER],
  ['203.0.113.9', 1, '203.0.113.9'],
  [LONG, 1, '198.51.100.2'],
  [LONG, 2, '203.0.113.9'],
  ['203.0.113.9', 2, '203.0.113.9'],
  ['203.0.113.9:4711', 1, '203.0.113.9'],
  ['[2001:db8::1]:4711', 1, '2001:db8::1'],
  ['[2001:db8::1]', 1, '2001:db8::1'],
  ['2001:db8::1', 1, '2001:db8::1'],
  ['unknown', 1, PEER],
  ['_hidden', 1, PEER],
  [undefined, 1, PEER],
  ['', 1, PEER],
  ['1.1.1.1, ', 1, PEER],
])('X-Forwarded-For %p behind %p proxies is %s', (forwarded, proxies, address) => {
  expect(clientAddress(request(forwarded), PEER, proxies)).toBe(address)
})

test('without any address it is unknown', () => expect(clientAddress(request(), undefined, 1)).toBe('unknown'))

test.each<[string | undefined, number, boolean]>([
  ['https', 1, true],
  ['HTTPS', 1, true],
  ['http', 1, false],
  [undefined, 1, false],
  ['https', 0, false],
  ['http, https', 1, true],
  ['https, http', 1, false],
  ['https, http', 2, true],
  ['https', 2, true],
])('X-Forwarded-Proto %p behind %p proxies is TLS: %p', (proto, proxies, expected) => {
  const headers = proto === undefined ? {} : { 'x-forwarded-proto': proto }
  expect(isForwardedSecure(new Request('http://localhost/', { headers }), proxies)).toBe(expected)
})

const hosted = (host?: string) => new Request('http://localhost/', host === undefined ? {} : { headers: { host } })
const NAMED = createIsOwnHost(['stint.example.com', '[2001:db8::1]'], false)
const LOOPBACK = createIsOwnHost([], true)

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
])('ALLOWED_HOSTS and the host %p: %p', (host, expected) => expect(NAMED(hosted(host))).toBe(expected))

test('without ALLOWED_HOSTS any name passes unless the server listens on a loopback address', () => {
  expect(createIsOwnHost([], false)(hosted('evil.example.com'))).toBe(true)
})

const OWN = 'localhost LOCALHOST:7070 127.0.0.1:1 127.8.9.1 [::1]:7070 stint.localhost'
test.each(OWN.split(' '))('on a loopback address the host %s is its own', (host) => {
  expect(LOOPBACK(hosted(host))).toBe(true)
})

const FOREIGN =
  'evil.example evil.example:7070 localhost.evil.example 127.0.0.1.evil.example evil-localhost 0.0.0.0 10.0.0.1'
test.each(FOREIGN.split(' '))('on a loopback address the host %s is foreign', (host) => {
  expect(LOOPBACK(hosted(host))).toBe(false)
})
