// Limits by address: one holder of an IPv6 network has 2^64 addresses, and counts once.
import { expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'
import { takePort } from '../../support/ports.ts'

test('invitations, resets and steps of the provider are limited by the network of an IPv6 address', async () => {
  const provider = {
    OIDC_ISSUER: `http://127.0.0.1:${takePort()}`,
    OIDC_CLIENT_ID: 'stint',
    OIDC_CLIENT_SECRET: 'secret',
    OIDC_JOIN: 'viewer',
  }
  await using app = await startApp({ env: { TRUST_PROXY: '1', ...provider } })
  let asked = 0
  const call = async (method: string, path: string, body: object | undefined, network: string) => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': `${network}::${(++asked).toString(16)}` }
    const url = app.url + path
    return (await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }), redirect: 'manual' }))
      .status
  }
  for (const [limit, method, path, body] of [
    [30, 'POST', '/api/invitations/look', { token: 'x' }],
    [30, 'POST', '/api/invitations/accept', { token: 'x', password: 'a long enough password' }],
    [10, 'POST', '/api/password/reset', { token: 'x', new_password: 'a long enough password' }],
    [300, 'GET', '/auth/oidc?moved', undefined],
  ] as const) {
    // what was counted by the route before it counts here, too
    const mine = `2001:db8:${limit}:${path.length}`
    const statuses = await Promise.all(Array.from({ length: limit + 1 }, () => call(method, path, body, mine)))
    expect([path, statuses.filter((status) => status === 429).length]).toEqual([path, 1])
    expect([path, (await call(method, path, body, '2001:db8:ffff:0')) === 429]).toEqual([path, false])
  }
})
