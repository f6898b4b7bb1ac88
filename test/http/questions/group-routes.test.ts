// Resolving and ignoring groups of exceptions over HTTP: who may, what is refused, what is written down.
import { beforeAll, expect, test } from 'bun:test'
import type { Exception } from '../../../src/event/event.ts'
import { fingerprint } from '../../../src/event/fingerprint.ts'
import type { Role } from '../../../src/wire/roles.ts'
import { useApp } from '../../support/app.ts'
import { faultsOf } from '../../support/caller.ts'
import { enter, join, ownerOf } from '../../support/people.ts'

const stored: Exception[] = []
const NAME = fingerprint('disk full')
const app = await useApp({ signup: 'open', stored })
let cookies: Record<Role | 'stranger', string>

beforeAll(async () => {
  const { account, rooms } = app
  const raised = { kind: 'exception', account, meta: '', exception: 'disk full' } as const
  const stamp = { us: Date.now() * 1000 - 60_000_000, sub: 0 }
  stored.push({ ...raised, process: 'nightly', stamp }, { ...raised, process: 'q', stamp })
  const eve = await rooms.accounts.create({ email: 'eve@example.com', password: 'a long password', address: '' })
  cookies = {
    viewer: await enter(app, await join(app, 'viewer')),
    member: await enter(app, await join(app, 'member')),
    owner: await enter(app, (await ownerOf(app)).person),
    stranger: await enter(app, eve.owner.id, eve.account.id),
  }
})
const change = (body: unknown, who: keyof typeof cookies = 'member', name = NAME) =>
  app.fetch(`/api/exceptions/groups/${name}`, {
    method: 'PATCH',
    headers: { cookie: cookies[who], 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const list = async (query = 'status=all', who: keyof typeof cookies = 'viewer', more = {}) => {
  const headers = { cookie: cookies[who], ...more }
  return (await app.fetch(`/api/exceptions/groups?from=-1d&${query}`, { headers })).json.groups as { status: string }[]
}
const statuses = async () => (await list()).map(({ status }) => status).sort()

test('a member changes a group in one process or in all; the audit log says who and what', async () => {
  const answer = await change({ status: 'ignored', process: 'q' })
  expect([answer.status, answer.json]).toMatchObject([
    200,
    { groups: [{ fingerprint: NAME, process: 'q', status: 'ignored', status_by: 'member@example.com' }] },
  ])
  expect(await statuses()).toEqual(['ignored', 'unresolved'])
  expect((await change({ status: 'resolved' }, 'owner')).json.groups).toHaveLength(2)
  expect(await statuses()).toEqual(['resolved', 'resolved'])
  await change({ status: 'unresolved' })
  expect(await statuses()).toEqual(['unresolved', 'unresolved'])
  const log = await app.fetch('/api/audit?action=exception_group_changed', { headers: { cookie: cookies.owner } })
  const entries = log.json.entries as { actor: string; target: string; detail: string }[]
  expect(entries.map(({ actor, target, detail }) => [actor, target, detail])).toEqual([
    ['member@example.com', NAME, 'unresolved: nightly, q'],
    ['ada@example.com', NAME, 'resolved: nightly, q'],
    ['member@example.com', NAME, 'ignored: q'],
  ])
})

test('a key is shown by its name', async () => {
  const { secret } = await app.rooms.accounts.keys.create(app.account, 'nightly triage', ['manage'])
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'PATCH', headers, body: '{"status":"ignored"}', key: secret }
  const { json } = await app.fetch(`/api/exceptions/groups/${NAME}`, init)
  expect(json.groups.map((group: { status_by: string }) => group.status_by)).toEqual([
    'key nightly triage',
    'key nightly triage',
  ])
  await change({ status: 'unresolved' })
})

test('viewers, keys without the scope and other accounts change nothing', async () => {
  expect((await change({ status: 'ignored' }, 'viewer')).json).toMatchObject({ status: 403, code: 'role_missing' })
  expect((await change({ status: 'ignored' }, 'stranger')).json).toMatchObject({ status: 404, code: 'not_found' })
  const init = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"status":"ignored"}' }
  for (const [key, code] of [
    [app.keys.owner, 'scope_missing'],
    [app.keys.revoked, 'key_invalid'],
    [undefined, 'key_invalid'],
  ] as const)
    expect((await app.fetch(`/api/exceptions/groups/${NAME}`, { ...init, key })).json.code).toBe(code)
  expect(await list('status=all', 'stranger')).toEqual([])
  expect(await statuses()).toEqual(['unresolved', 'unresolved'])
})

test('odd names of groups are not found, and bodies with faults are refused', async () => {
  const odd = [
    'v4:',
    'v4:0',
    'V4:00',
    'v4:0000000000000000',
    '%00',
    '..%2f',
    "'%20OR%201=1",
    '%F0%9F%98%80',
    '%',
    'x'.repeat(5_000),
  ]
  for (const name of odd) {
    const { status, json } = await change({ status: 'ignored' }, 'member', name)
    expect([name, status, json.code]).toEqual([name, 404, 'not_found'])
  }
  const bodies: [body: unknown, pointer: string][] = [
    [{}, '/status'],
    [{ status: 'regressed' }, '/status'],
    [{ status: 'all' }, '/status'],
    [{ status: 'ignored', process: '' }, '/process'],
    [{ status: 'ignored', process: '"%\'' }, '/process'],
    [{ status: 'ignored', until: '1h' }, '/until'],
  ]
  for (const [body, pointer] of bodies)
    expect([body, ...faultsOf(await change(body))]).toEqual([body, 422, 'fields_invalid', pointer])
})

test('open pages learn of the change, and no shared answer is from before it', async () => {
  const shared = { 'cache-control': 'max-age=2' }
  const version = async () => (await app.fetch('/api/changes', { headers: { cookie: cookies.viewer } })).json.version
  expect((await list('', 'viewer', shared)).length).toBe(2)
  const before = await version()
  await change({ status: 'ignored' })
  expect((await list('', 'viewer', shared)).length).toBe(0)
  expect(await version()).not.toBe(before)
  await change({ status: 'unresolved' })
})

test.each([
  ['text=', '/text'],
  ['text=%20%09', '/text'],
  [`text=${'x'.repeat(201)}`, '/text'],
  [`text=${'a '.repeat(5)}b c d e f g h i j k`, '/text'],
  ['status=open', '/status'],
  ['text=a&text=b', '/text'],
])('a question with %s is refused', async (query, pointer) => {
  const { status, json } = await app.fetch(`/api/exceptions/groups?${query}`, { key: app.keys.reader })
  expect([status, json.errors[0].pointer]).toEqual([422, pointer])
})

test('a clock that is set back makes no shared answer fresh', async () => {
  const count = async () => (await list('status=all', 'viewer', { 'cache-control': 'max-age=2' })).length
  expect(await count()).toBe(2)
  app.clock.step(-70_000_000)
  app.clock.pass(69_000_000)
  stored.push({ ...stored[0]!, process: 'another' })
  expect(await count()).toBe(3)
})
