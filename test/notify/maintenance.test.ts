// Maintenances: when one is under way, and the API and the command line that manage them.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { heldUntilUs, type MaintenanceSpec, maintenanceUntilUs } from '../../src/notify/maintenance.ts'
import { createPerson } from '../cli/cli-cast.ts'
import { useApp } from '../support/app.ts'
import { faultsOf, signInAt } from '../support/caller.ts'

const us = (text: string) => Date.parse(text) * 1000
const specOf = (over: Partial<MaintenanceSpec>): MaintenanceSpec => ({
  process: '*',
  from: null,
  to: null,
  repeat: null,
  ...over,
})

describe('a maintenance', () => {
  test('once holds from its beginning to before its end', () => {
    const spec = specOf({ from: '2026-11-22T01:00:00Z', to: '2026-11-22T03:00:00Z' })
    const end = us('2026-11-22T03:00:00Z')
    expect(maintenanceUntilUs(spec, us('2026-11-22T01:00:00Z') - 1)).toBeUndefined()
    expect(maintenanceUntilUs(spec, us('2026-11-22T01:00:00Z'))).toBe(end)
    expect(maintenanceUntilUs(spec, end - 1)).toBe(end)
    expect(maintenanceUntilUs(spec, end)).toBeUndefined()
  })

  test('that repeats follows the time zone of its cron expression, also when clocks change', () => {
    const repeat = { cron: '0 1 * * *', tz: 'Europe/Berlin', length: '2h' }
    const summer = us('2026-10-24T23:00:00Z') // 01:00 in Berlin, the night that has 25 hours
    const winter = us('2026-10-26T00:00:00Z')
    for (const start of [summer, winter]) {
      expect(maintenanceUntilUs(specOf({ repeat }), start - 1)).toBeUndefined()
      expect(maintenanceUntilUs(specOf({ repeat }), start)).toBe(start + 7200e6)
      expect(maintenanceUntilUs(specOf({ repeat }), start + 7200e6)).toBeUndefined()
    }
  })

  test('that repeats holds exactly within the length after a moment, and within its limits', () => {
    const repeat = { cron: '*/30 * * * *', length: '7m' }
    const day = us('2026-11-22T00:00:00Z')
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400 }), fc.integer({ min: 0, max: 999_999 }), (second, rest) => {
        const now = day + second * 1e6 + rest
        const [from, to] = ['2026-11-22T06:00:00Z', '2026-11-22T12:03:00Z']
        const began = day + Math.floor(second / 1800) * 1800e6
        const isWithin = now - began < 7 * 60e6 && now >= us(from) && now < us(to)
        const expected = isWithin ? Math.min(began + 7 * 60e6, us(to)) : undefined
        expect(maintenanceUntilUs(specOf({ repeat, from, to }), now)).toBe(expected)
      }),
    )
  })

  const UNIONS: { name: string; specs: Partial<MaintenanceSpec>[]; end: string | null }[] = [
    {
      name: 'stretches that overlap',
      specs: [{ repeat: { cron: '0,30 1-3 * * *', length: '40m' } }],
      end: '2026-11-22T04:10:00Z',
    },
    {
      name: 'stretches that touch',
      specs: [{ repeat: { cron: '0 1,2,3 * * *', length: '1h' } }],
      end: '2026-11-22T04:00:00Z',
    },
    {
      name: 'stretches of two that touch in turn',
      specs: [
        { repeat: { cron: '0 1,3 * * *', length: '1h' } },
        { repeat: { cron: '0 2 * * *', length: '1h' } },
        { from: '2026-11-22T04:00:00Z', to: '2026-11-22T04:30:00Z' },
      ],
      end: '2026-11-22T04:30:00Z',
    },
    {
      name: 'stretches without a break until its limit',
      specs: [{ repeat: { cron: '0 * * * *', length: '2h' }, to: '2027-06-01T00:00:00Z' }],
      end: '2027-06-01T00:00:00Z',
    },
    { name: 'stretches without a break', specs: [{ repeat: { cron: '* * * * *', length: '2m' } }], end: null },
  ]
  test.each(UNIONS)('holds back until the end of all $name', ({ specs, end }) => {
    const now = us('2026-11-22T01:20:00Z')
    const expected = end === null ? Number.POSITIVE_INFINITY : us(end)
    expect(heldUntilUs(specs.map(specOf), 'job', now)).toBe(expected)
    if (specs.length === 1) expect(maintenanceUntilUs(specOf(specs[0]!), now)).toBe(expected)
  })

  test('holds back only processes that it names, until the last of those under way', () => {
    const until = (process: string, to: string) => specOf({ process, from: '2026-11-22T00:00:00Z', to })
    const all = [until('a*', '2026-11-22T02:00:00Z'), until('ab', '2026-11-22T03:00:00Z')]
    const now = us('2026-11-22T01:00:00Z')
    expect(heldUntilUs(all, 'ax', now)).toBe(us('2026-11-22T02:00:00Z'))
    expect(heldUntilUs(all, 'ab', now)).toBe(us('2026-11-22T03:00:00Z'))
    expect(heldUntilUs(all, 'b', now)).toBeUndefined()
  })
})

const app = await useApp()
const { call: ask } = await signInAt(app.url)
const key = (await ask('POST', '/api/keys', { name: 'infra', scopes: ['manage'] })).json.key.secret

describe('over the API', () => {
  test('a maintenance is planned, changed, listed and deleted', async () => {
    const to = '2999-01-01T00:00:00.000Z'
    const { status, json } = await ask('POST', '/api/maintenance', { process: 'nightly*', to })
    expect([status, json.maintenance]).toMatchObject([201, { process: 'nightly*', to, active: true, until: to }])
    const path = `/api/maintenance/${json.maintenance.id}`
    expect((await ask('GET', path)).json).toEqual(json)
    expect((await ask('GET', '/api/maintenance')).json).toEqual({ maintenance: [json.maintenance] })
    const repeat = { cron: '0 2 * * 0', tz: 'Europe/Berlin', length: '2h' }
    const changed = (await ask('PATCH', path, { from: null, to: null, repeat })).json.maintenance
    expect(changed).toMatchObject({ from: null, to: null, repeat, process: 'nightly*' })
    expect((await ask('PATCH', path, { repeat: null })).status).toBe(422)
    expect((await ask('DELETE', path)).status).toBe(204)
    for (const method of ['GET', 'DELETE']) expect((await ask(method, path)).status).toBe(404)
    expect((await ask('PATCH', path, { to })).status).toBe(404)
  })

  test.each([
    [{ process: 'a' }, '/to'],
    [{ process: 'a', from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, '/to'],
    [{ process: 'a', to: 'tomorrow' }, '/to'],
    [{ process: '', to: '2999-01-01T00:00:00Z' }, '/process'],
    [{ process: 'a', repeat: { cron: 'x', length: '1h' } }, '/repeat/cron'],
    [{ process: 'a', repeat: { cron: '0 2 * * *', tz: 'Mars', length: '1h' } }, '/repeat/tz'],
    [{ process: 'a', repeat: { cron: '0 2 * * *', length: 'long' } }, '/repeat/length'],
    [{ process: 'a', repeat: { cron: '0 2 * * *' } }, '/repeat/length'],
  ])('%j is refused at %s', async (body, pointer) => {
    expect(faultsOf(await ask('POST', '/api/maintenance', body))).toEqual([422, 'fields_invalid', pointer])
  })

  test('stint maintenance adds, lists and deletes', async () => {
    const { run } = createPerson(app.url)
    const env = { STINT_API_KEY: key }
    expect(await run('maintenance list', { env })).toMatchObject({ exitCode: 0, stderr: 'No maintenances.\n' })
    const once = (await run('maintenance add nightly* --to 2h', { env })).stdout.trim()
    expect(once).toMatch(/^mnt_\w+$/)
    const weekly = ['maintenance', 'add', 'db', '--cron', '0 2 * * 0', '--tz', 'Europe/Berlin', '--length', '2h']
    const { stdout } = await run([...weekly, '--json'], { env })
    expect(JSON.parse(stdout).maintenance.repeat).toEqual({ cron: '0 2 * * 0', tz: 'Europe/Berlin', length: '2h' })
    const listed = (await run('maintenance list', { env })).stdout
    expect(listed).toMatch(/active +nightly\* +from/)
    expect(listed).toContain('0 2 * * 0 (Europe/Berlin) for 2h')
    expect((await run('maintenance add nightly*', { env })).exitCode).toBe(2)
    expect((await run(`maintenance rm ${once}`, { env })).exitCode).toBe(0)
    expect((await run(`maintenance rm ${once}`, { env })).exitCode).toBe(1)
  })
})
