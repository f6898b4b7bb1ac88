// The form of a watch loses nothing of a watch that it shows, and sends only what was changed.
import { describe, expect, test } from 'bun:test'
import { changesOf, toWatch, valuesOf } from '../../src/console/watch/sentences.ts'
import type { Watch } from '../../src/wire/watches.ts'

const PLAIN: Watch = {
  ...{ id: 'wat_1', name: 'nightly', process: ' import ', meta: null, channels: ['cha_1', 'cha_gone'] },
  ...{ late: null, long: null, failed: null, metric: null, slow: null, remind: null },
  ...{ paused_until: '2026-11-27T00:00:00.000Z', created_at: '2026-11-20T00:00:00.000Z', next_due: null },
  ...{ state: 'paused', badge: '/badge/1' },
}
const WATCHES: readonly Partial<Watch>[] = [
  { late: { every: '2h', grace: '20m' } },
  { late: { every: '2h' } },
  { late: { cron: '0 3 * * *', tz: 'Europe/Berlin', grace: '10m' } },
  { late: { cron: '0 3 * * *' } },
  { failed: { after: 3, exceptions: false }, meta: '' },
  { failed: { after: 1, exceptions: true }, meta: 'eu', remind: '6h' },
  { long: '30m', slow: 2.5 },
  { metric: { name: ' rows ', window: '10m', of: 'mean', below: -5, for: '5m' } },
  { metric: { name: 'rows', window: '1h', of: 'max', above: 0 } },
]

describe('the form of a watch', () => {
  test.each(WATCHES)('makes the same watch again: %o', (some) => {
    const watch = { ...PLAIN, ...some }
    const { id: _, paused_until, created_at, next_due, state, badge, ...held } = watch
    expect(toWatch(valuesOf(watch))).toEqual(held)
  })

  test.each(WATCHES)('sends nothing if nothing was changed, and only what was: %o', (some) => {
    const before = valuesOf({ ...PLAIN, ...some })
    expect(changesOf(before, { ...before })).toEqual({})
    expect(changesOf(before, { ...before, name: 'other' })).toEqual({ name: 'other' })
    const changed = { on: { ...before.on, failed: false, long: true }, texts: { ...before.texts, long: '1h' } }
    expect(changesOf(before, { ...before, ...changed })).toEqual({
      long: '1h',
      ...(some.failed && { failed: null }),
    })
  })
})
