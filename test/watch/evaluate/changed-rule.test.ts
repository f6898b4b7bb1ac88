// `failed` is changed by the API's operation while runs fail: the row goes on, and a change alone fires nothing.
import { expect, test } from 'bun:test'
import { dueOf } from '../../../src/watch/evaluate/alert-changes.ts'
import type { KnownException, KnownMark } from '../../../src/watch/evaluate/watch-source.ts'
import { createManageAlerts } from '../../../src/watch/manage/manage-alerts.ts'
import { createManageWatches } from '../../../src/watch/manage/manage-watches.ts'
import type { ChangeWatch } from '../../../src/wire/watches.ts'
import { inMemoryDir } from '../../support/temp-dir.ts'
import { ACCOUNT, alertOf, evaluatorOf, openStore, sourceOf } from '../watch-cast.ts'

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
  ['the first is due an interval after the beginning', { remindUs: null }, 60, 60],
  ['a shorter interval counts from the notification', { notifiedUs: 2, remindUs: 3_602 }, 60, 62],
  ['a longer interval keeps what is due', { notifiedUs: 2, remindUs: 62 }, 3_600, 62],
])('reminders: %s', (_, over, remindUs, due) => {
  expect(dueOf(alertOf('ale_1', 'wat_1', { sinceUs: 0, notifiedUs: null, ...over }), remindUs, 3)).toBe(due)
})
