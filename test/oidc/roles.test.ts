import { expect, test } from 'bun:test'
import { roleOf } from '../../src/oidc/roles.ts'
import { isIssuer, parseRoleRules } from '../../src/parse-settings.ts'

test.each<[object, string | undefined]>([
  [{ groups: ['staff'] }, 'viewer'],
  [{ groups: ['staff', 'stint-admins'] }, 'owner'],
  [{ groups: 'staff' }, 'viewer'],
  [{ groups: ['other'] }, undefined],
  [{ groups: null }, undefined],
  [{}, undefined],
  [{ realm_access: { roles: ['ops'] } }, 'member'],
  [{ 'realm_access.roles': ['ops'] }, 'member'],
  [{ realm_access: 'ops' }, undefined],
])('%j gives %p', (claims, role) => {
  const rules = parseRoleRules('groups:staff=viewer, groups:stint-admins=owner,realm_access.roles:ops=member')!
  expect(roleOf(claims as Record<string, unknown>, rules)).toBe(role as never)
})

test('a value may hold colons and equals signs', () => {
  expect(parseRoleRules('groups:urn:a=b=member')).toEqual([{ claim: 'groups', value: 'urn:a=b', role: 'member' }])
})

test.each(['groups', 'groups:a', 'groups:a=king', 'a:b=owner,', ''])('%j is no list of roles', (text) => {
  expect(parseRoleRules(text)).toBeUndefined()
})

test.each([
  ['https://id.example.com/realms/a', true],
  ['http://127.0.0.1:8080', true],
  ['http://localhost/x', true],
  ['http://[::1]:1', true],
  ['http://id.example.com', false],
  ['http://127.0.0.1.evil.example', false],
  ['https://u:p@id.example.com', false],
  ['https://id.example.com/?a', false],
  ['ftp://id.example.com', false],
])('%s may be an issuer: %p', (text, may) => {
  expect(isIssuer(text)).toBe(may)
})
