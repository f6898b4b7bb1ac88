// A DATA_DIR as an earlier Stint left it, kept in golden/: it opens, its accounts and keys are known, and what it had accepted is delivered.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lacks } from '../support/fault-trial.ts'
import { type Dead, type Point, readStored, untilShipped } from '../support/oracle.ts'
import { callerOf, createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

const GOLDEN = join(import.meta.dir, 'golden')
const TIMEOUT_MS = 600_000
const WITHIN_MS = 60_000
/** Whenever this runs. */
const SINCE = '2026-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'

interface Facts {
  readonly email: string
  readonly account: string
  readonly keyId: string
  readonly secret: string
  readonly sent: readonly { readonly path: string; readonly uid?: string; readonly at: string }[]
}

function extract(name: string): string {
  const dir = tempDir('golden')
  const extracted = Bun.spawnSync(['tar', '-xzf', join(GOLDEN, `${name}.tar.gz`), '-C', dir])
  expect(extracted.success).toBe(true)
  return dir
}

const VERSIONS = readdirSync(GOLDEN).flatMap((name) => /^(data-dir-\d+)\.json$/.exec(name)?.[1] ?? [])

test('every data version has a golden directory', () => {
  const source = readFileSync(join(import.meta.dir, '../../src/state/data-dir-lock.ts'), 'utf8')
  const current = Number(/^const DATA_VERSION = (\d+)$/m.exec(source)?.[1])
  expect(VERSIONS.sort()).toEqual(Array.from({ length: current }, (_, i) => `data-dir-${i + 1}`))
})

test.skipIf(lacks('chdb')).each(VERSIONS)(
  '%s opens and delivers all that it had accepted',
  async (version) => {
    const facts = JSON.parse(readFileSync(join(GOLDEN, `${version}.json`), 'utf8')) as Facts
    await using stint = createStintProcess({}, { dataDir: extract(version) })
    await stint.start()
    const caller = callerOf(stint.url, facts)
    await untilShipped(stint.url, WITHIN_MS)

    const stored = await readStored(caller, SINCE)
    // Version 1 answered with the whole stamp; what is shown is the time, without the digits that only make it unique.
    const atOf = (path: string) =>
      facts.sent.filter((event) => event.path === path).map(({ at }) => at.replace(/\d{3}Z$/, '000Z'))
    expect(stored.timings.map(({ started_at }) => started_at).sort()).toEqual(atOf('/v1/start').sort())
    expect(stored.timings.flatMap(({ ended_at }) => ended_at ?? [])).toEqual(atOf('/v1/end'))
    const metrics = stored.points.map(({ at, name, value }) => ({ at, name, value }))
    const [at] = atOf('/v1/metrics')
    expect(metrics.sort(byName)).toEqual([
      { at: at!, name: 'läng e', value: -3 },
      { at: at!, name: 'value', value: 0.1 },
    ])
    expect(stored.exceptions).toMatchObject([{ at: atOf('/v1/exception')[0], exception: 'boom\n\t"at" \\ 😀' }])

    const [letter] = stored.dead as [Dead]
    expect(letter).toMatchObject({ process: 'buried', reason: 'field type conflict', event: { items: { value: 7 } } })
    const replayed = await fetch(`${stint.url}/api/dead/${letter.id}/replay`, {
      method: 'POST',
      headers: { 'x-stint-api-key': facts.secret },
    })
    expect(replayed.status).toBe(204)
    await untilShipped(stint.url, WITHIN_MS)
    const { points, dead } = await readStored(caller, SINCE)
    expect(points.filter(({ process }) => process === 'buried')).toMatchObject([{ at: letter.at, value: 7 }])
    expect(dead).toEqual([])

    const session = await fetch(`${stint.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: facts.email, password: 'a long enough password of a test' }),
    })
    expect(session.ok).toBe(true)
    expect((await caller.post('/v1/start', { process: 'new' })).status).toBe(201)
  },
  TIMEOUT_MS,
)

test.skipIf(lacks('chdb'))(
  'a DATA_DIR in the second turn of its clock: delivered, and the clock continues beside the hour that was too far ahead',
  async () => {
    const facts = JSON.parse(readFileSync(join(GOLDEN, 'second-turn.json'), 'utf8')) as Facts & { wallUs: number }
    const dataDir = extract('second-turn')
    const clockFile = join(dataDir, 'clock')
    const startedUs = facts.wallUs + 1_000_000
    writeFileSync(clockFile, JSON.stringify({ stepUs: startedUs - Date.now() * 1000, passUs: 0 }))
    const entry = join(import.meta.dir, '../support/fault-clock-main.ts')
    await using stint = createStintProcess({ CLOCK_FILE: clockFile }, { entry, dataDir })
    await stint.start()
    const caller = callerOf(stint.url, facts)
    const answers: { uid?: string; at: string }[] = [...facts.sent]
    for (let i = 0; i < 20; i++) {
      const answer = await caller.post('/v1/start', { process: 'turns', uid: `new-${i}` })
      const { at } = (await answer.json()) as { at: string }
      expect(Date.parse(at) * 1000 - startedUs).toBeLessThan(60_000_000) // not from the hour ahead
      expect(at > facts.sent.at(-1)!.at).toBe(true)
      answers.push({ uid: `new-${i}`, at })
    }
    await untilShipped(stint.url, WITHIN_MS)
    const { timings } = await readStored(caller, SINCE)
    const byUid = (a: { uid?: string | null }, b: { uid?: string | null }) => (a.uid! < b.uid! ? -1 : 1)
    expect(timings.map(({ uid, started_at }) => ({ uid, at: started_at })).sort(byUid)).toEqual(
      answers.sort(byUid) as [],
    )
  },
  TIMEOUT_MS,
)

const byName = (a: Pick<Point, 'name'>, b: Pick<Point, 'name'>) => (a.name < b.name ? -1 : 1)
