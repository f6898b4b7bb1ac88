// `failed` is changed by the API's operation while runs fail: the row goes on, and a change alone fires nothing.
import { expect, test } from 'bun:test'
import type { KnownException, KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { createManageAlerts } from '../../../src/watch/manage/manage-alerts.ts'
import { createManageWatches } from '../../../src/watch/manage/manage-watches.ts'
import type { ChangeWatch } from '../../../src/wire/watches.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, alertOf, channelOf, evaluatorOf, opened, openStore, sourceOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const PROCESS = 'nightly'

type Failed = NonNullable<ChangeWatch['failed']> | null
type Step = 'fails' | 'completes' | 'throws' | 'is resolved' | ChangeWatch

/** The summaries of all alerts after each step, oldest first, without the process and the time. */
async function play(failed: Failed, steps: readonly Step[]) {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const marks: KnownMark[] = []
  const exceptions: KnownException[] = []
  const find =
    <T extends { readonly atUs: number }>(list: T[]) =>
    async ({ fromUs, toUs }: { readonly fromUs: number; readonly toUs: number }): Promise<T[]> =>
      list.filter(({ atUs }) => atUs >= fromUs && atUs < toUs).reverse()
  const source = sourceOf({ findMarks: find(marks), findExceptions: find(exceptions) })
  const evaluator = evaluatorOf({ store, source, nowUs: () => now })
  const parts = { store, nowUs: () => now, publicUrl: () => '', onChanged: evaluator.hurry }
  const watches = createManageWatches({ ...parts, maxRunUs: 86_400 * S, gaps: () => [] })
  const alerts = createManageAlerts({ ...parts, unjudged: async () => [] })
  const { id } = await watches.create(ACCOUNT, { name: PROCESS, process: PROCESS, channels: [], long: '1h', failed })
  const firing = () => store.alerts(ACCOUNT, { state: 'firing', limit: 9 })
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += S
      await evaluator.step()
    }
  }
  await pass(30)
  const seen: string[][] = []
  for (const [n, step] of steps.entries()) {
    const one = { process: PROCESS, meta: '' }
    const uid = `r${n}`
    if (step === 'is resolved') for (const alert of await firing()) await alerts.resolve(ACCOUNT, alert.id, 'ada')
    else if (typeof step === 'object') await watches.change(ACCOUNT, id, step)
    else {
      marks.push({ ...one, mark: 'start', uid, atUs: now })
      if (step === 'throws') exceptions.push({ ...one, uid, atUs: now + S, headline: 'no rows' })
      marks.push({ ...one, mark: step === 'fails' ? 'failed' : 'end', uid, atUs: now + 2 * S })
      now += 3 * S
      evaluator.hint({ account: ACCOUNT, process: PROCESS })
    }
    await pass(30)
    seen.push((await firing()).map(({ episode }) => `${episode?.cause} ${episode?.figure}`))
  }
  await store.close()
  return seen.map((them) => them.join())
}

const to = (failed: Failed): ChangeWatch => ({ failed })
const F = 'fails'
const none = ''

test.each<[string, Failed, Step[], string[]]>([
  ['a higher number', {}, [F, to({ after: 3 }), F, F], ['failed 1', none, none, 'failed 3']],
  ['a lower number', { after: 5 }, [F, F, to({ after: 2 }), F], [none, none, none, 'failed 3']],
  ['exceptions', { after: 3 }, [F, F, to({ after: 3, exceptions: true }), F], [none, none, none, 'failed 3']],
  ['a condition that is added', null, [F, F, to({ after: 3 }), F], [none, none, none, 'failed 3']],
  ['a change that its alert outlasts', {}, [F, to({ exceptions: true }), F], ['failed 1', 'failed 1', 'failed 1']],
  ['a completed run after a change', {}, [F, to({ after: 2 }), 'completes', F], ['failed 1', none, none, none]],
  ['a person', {}, [F, 'is resolved', to({ after: 2 }), F, F], ['failed 1', none, none, none, 'failed 2']],
  [
    'another process and back',
    {},
    [F, { process: 'x' }, { process: PROCESS, ...to({ after: 2 }) }, F],
    ['failed 1', none, none, none],
  ],
])('failures in a row across a change of `failed`: %s', async (_, failed, steps, expected) => {
  expect(await play(failed, steps)).toEqual(expected)
})

test.each([
  ['go on after the clock was set back by ten days', 240, '1h', [60]],
  ['count from the last one when the interval is shorter', 0, '10m', [5, 15]],
  ['are due at once when a shorter interval is over', 0, '2m', [0, 2]],
  ['count from the last one when the interval is longer', 0, '2h', [115]],
])('reminders %s', async (_, backH, remind, minutes) => {
  const H = 3600 * S
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  await store.addChannel(channelOf('cha_1'), 9)
  await store.addWatch(
    watchOf('wat_1', { channels: ['cha_1'], failed: { after: 1, exceptions: false }, remind: '1h' }),
    9,
  )
  const first = { sinceUs: now - 5 * H, notifiedUs: now - 5 * H }
  const alert = alertOf('ale_1', 'wat_1', { condition: 'failed', ...first, remindUs: now + H })
  await store.commit([opened(alert, [])], new Map(), now)
  now += 5 * 60 * S - backH * H
  const evaluator = evaluatorOf({ store, nowUs: () => now })
  const parts = { store, nowUs: () => now, publicUrl: () => '', onChanged: evaluator.hurry }
  const watches = createManageWatches({ ...parts, maxRunUs: 86_400 * S, gaps: () => [] })
  await watches.change(ACCOUNT, 'wat_1', { remind })
  const seen: number[] = []
  for (let s = 0; s < 7200 && seen.length < minutes.length; s += 10) {
    await evaluator.step()
    const due = await store.due(now, 9)
    if (due.length > 0) seen.push(Math.floor(s / 60))
    await store.settle(due, { id: 'cha_1' }, now, 'delivered')
    now += 10 * S
  }
  expect(seen).toEqual(minutes)
  await store.close()
})

test('a changed metric fires by a point that comes after the change, and for the changed figure; a pause changes nothing', async () => {
  let now = Date.UTC(2026, 10, 21) * 1000
  const store = openStore(inMemoryDir())
  const points: { name: string; atUs: number; value: number }[] = []
  const source = sourceOf({
    async aggregateMetrics({ fromUs, toUs }) {
      const read = points.filter(({ atUs }) => atUs >= fromUs && atUs < toUs)
      return [...Map.groupBy(read, ({ name }) => name)].map(([name, own]) => {
        const values = own.map(({ value }) => value)
        const mean = values.reduce((sum, value) => sum + value) / values.length
        const [min, max] = [Math.min(...values), Math.max(...values)]
        return {
          ...{ process: PROCESS, name, atUs: fromUs, count: values.length },
          mean,
          min,
          max,
          last: values.at(-1)!,
        }
      })
    },
  })
  const evaluator = evaluatorOf({ store, source, nowUs: () => now })
  const parts = { store, nowUs: () => now, publicUrl: () => '', onChanged: evaluator.hurry }
  const watches = createManageWatches({ ...parts, maxRunUs: 86_400 * S, gaps: () => [] })
  const metric = { name: 'rows', of: 'last', window: '5m' } as const
  const { id } = await watches.create(ACCOUNT, {
    name: PROCESS,
    process: PROCESS,
    channels: [],
    metric: { ...metric, above: 100 },
  })
  const step = async (value?: number, name = 'rows') => {
    if (value !== undefined) points.push({ name, atUs: now, value })
    evaluator.hint({ account: ACCOUNT, process: PROCESS, kind: 'metrics' })
    for (let i = 0; i < 20; i++) {
      now += S
      await evaluator.step()
    }
    return (await store.alerts(ACCOUNT, { state: 'firing', limit: 9 })).map(({ sinceUs }) => sinceUs)
  }
  expect(await step(50)).toEqual([])
  const changedUs = now
  await watches.change(ACCOUNT, id, { metric: { ...metric, above: 10 } })
  expect(await step()).toEqual([])
  const [since] = await step(51)
  expect(since).toBeGreaterThan(changedUs)
  await watches.change(ACCOUNT, id, { metric: { ...metric, name: 'files', above: 10 } })
  expect(await step()).toEqual([])
  expect(await step(20, 'files')).toHaveLength(1)
  const [alert] = await store.alerts(ACCOUNT, { state: 'firing', limit: 9 })
  await createManageAlerts({ ...parts, unjudged: async () => [] }).resolve(ACCOUNT, alert!.id, 'ada')
  const pauses = [new Date(now / 1000 + 3_600_000).toISOString(), null]
  for (const paused_until of pauses) {
    await watches.change(ACCOUNT, id, { paused_until })
    expect(await step(20, 'files')).toEqual([])
  }
  await store.close()
})
