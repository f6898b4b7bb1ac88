// Published badges against the overview: both say the same of the same processes.
import { describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { Problem } from '../../src/problem.ts'
import type { Rooms } from '../../src/service/open-rooms.ts'
import { startApp, useApp } from '../support/app.ts'
import { signInAt } from '../support/caller.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const stored: Event[] = []
const app = await useApp({ stored })
const { call: ask } = await signInAt(app.url)
const nowMs = Math.floor(app.clock.wallUs() / 1000)

function run(process: string, agoMs: number, failed = false, meta = ''): void {
  const common = { account: app.account, process, meta, uid: `u${agoMs}` }
  const at = (ms: number) => parseStampNs(BigInt(nowMs - ms) * 1_000_000n)
  stored.push({ ...common, kind: 'start', stamp: at(agoMs) })
  stored.push({ ...common, kind: 'end', stamp: at(agoMs - 60_000), ...(failed && { failed: true as const }) })
}
run('shop/ok', HOUR)
run('shop/bad', HOUR, true, 'customer-1')
run('shop/bad', HOUR, false, 'customer-2')
for (let nights = 4; nights < 12; nights++) run('backup', nights * DAY)

/** Text and colour of the image, and the JSON. */
async function publish(process: string, more: object = {}) {
  const body = { name: 'its badge', process, failed: {}, channels: [], ...more }
  const { id } = (await ask('POST', '/api/watches', body)).json.watch
  const { badge } = (await ask('POST', `/api/watches/${id}/badge`)).json.watch
  const svg = (await app.fetch(`${badge}.svg`)).text
  const [, label] = /<title>its badge: (.*?)<\/title>/.exec(svg)!
  return { label, svg, ...(await app.fetch(`${badge}.json`)).json }
}
const sentenceOf = async (process: string) => (await ask('GET', `/api/overview?process=${process}`)).json.sentence

describe('a badge', () => {
  test.each([
    ['backup', 'silent', '1 process is silent.', '#c53030'],
    ['shop/bad', 'failed', '1 process failed.', '#c53030'],
    ['shop/ok', 'fine', '1 process is fine.', '#2f855a'],
  ])('of %s says %s, as the overview does', async (process, label, sentence, color) => {
    expect(await sentenceOf(process)).toBe(sentence)
    const badge = await publish(process)
    expect(badge).toMatchObject({ label, sentence, state: 'ok', firing: 0 })
    expect(badge.svg).toContain(color)
  })

  test('of all processes has the sentence of Home', async () => {
    const { sentence } = (await ask('GET', '/api/overview')).json
    expect(sentence).toBe('1 failed, 1 silent, 1 fine.')
    expect(await publish('*')).toMatchObject({ label: '1 failed, 1 silent, 1 fine', sentence })
  })

  test('of a pattern counts the processes that it covers, and names neither them nor their metas', async () => {
    const badge = await publish('shop/*')
    expect(badge.label).toBe('1 failed, 1 fine')
    expect(JSON.stringify(badge)).not.toMatch(/shop|customer/)
  })

  test('of one meta says how that meta is', async () => {
    expect((await publish('shop/bad', { meta: 'customer-2' })).label).toBe('fine')
    expect((await publish('shop/bad', { meta: 'customer-1' })).label).toBe('failed')
  })

  test('of a process that is not known has the state of its watch', async () => {
    expect(await publish('nothing')).toMatchObject({ label: 'ok', sentence: '' })
  })

  test('has the state of its watch while the overview is not available', async () => {
    const away = async () => {
      throw new Problem('store_unavailable', 'away')
    }
    const replace = (rooms: Rooms): Rooms => ({
      ...rooms,
      overview: Object.assign(away, {
        ...{ describe: away, look: away, known: away, versionOf: () => undefined, drop: () => {}, forget: () => {} },
      }),
    })
    await using lost = await startApp({ replace })
    const { call } = await signInAt(lost.url)
    const body = { name: 'its badge', process: 'job', long: '1h', channels: [] }
    const { id } = (await call('POST', '/api/watches', body)).json.watch
    const { badge } = (await call('POST', `/api/watches/${id}/badge`)).json.watch
    expect((await lost.fetch(`${badge}.svg`)).text).toContain('its badge: ok')
    expect((await lost.fetch(`${badge}.json`)).json).toMatchObject({ state: 'ok', sentence: '' })
  })
})
