import { expect, test } from 'bun:test'
import { clientAddress } from '../../src/http/client-address.ts'

const PEER = '192.0.2.1'
const request = (forwarded?: string) =>
  new Request('http://localhost/', forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } })

test('without trusted proxies the connection alone counts', () => {
  expect(clientAddress(request('203.0.113.9'), PEER, 0)).toBe(PEER)
  expect(clientAddress(request(), PEER, 0)).toBe(PEER)
})

test('behind one proxy the last entry counts: those left of it were written by the caller', () => {
  expect(clientAddress(request('203.0.113.9'), PEER, 1)).toBe('203.0.113.9')
  expect(clientAddress(request('1.1.1.1, 203.0.113.9'), PEER, 1)).toBe('203.0.113.9')
})

test('behind two proxies the last but one counts', () => {
  expect(clientAddress(request('1.1.1.1, 203.0.113.9, 198.51.100.2'), PEER, 2)).toBe('203.0.113.9')
  expect(clientAddress(request('203.0.113.9'), PEER, 2)).toBe('203.0.113.9')
})

test('where the header is missing or empty the connection counts', () => {
  expect(clientAddress(request(), PEER, 1)).toBe(PEER)
  expect(clientAddress(request(''), PEER, 1)).toBe(PEER)
  expect(clientAddress(request('1.1.1.1, '), PEER, 1)).toBe(PEER)
  expect(clientAddress(request(), undefined, 1)).toBe('unknown')
})
