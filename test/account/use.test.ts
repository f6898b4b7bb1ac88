// The bytes of an account in 24 hours: counted by the hour, kept over restarts, and of this account alone.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ADA, createManualClock, databases, openFresh } from './accounts-cast.ts'

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

const commitOf = (account: string, bytes: number, records = 1) => new Map([[account, { bytes, records }]])

describe.each(databases())('bytes accepted in 24 hours, with $database', ({ open }) => {
  test('have events, exceptions and e-mails beside them, which leave like them and outlast a restart', async () => {
    const clock = createManualClock()
    const first = await open({ clock })
    const { account } = await first.create(ADA)
    first.use.add(commitOf(account.id, 100, 7), 'points')
    first.use.add(commitOf(account.id, 10, 2), 'exceptions')
    clock.passS(HOUR_S)
    first.use.addEmail(account.id)
    expect(first.use.figuresOf(account.id)).toEqual({ bytes: 110, events: 9, exceptions: 2, emails: 1 })
    await first.close()
    await using again = await open({ clock, path: first.path })
    expect(again.use.figuresOf(account.id)).toEqual({ bytes: 110, events: 9, exceptions: 2, emails: 1 })
    clock.passS(DAY_S)
    expect(again.use.figuresOf(account.id)).toEqual({ bytes: 0, events: 0, exceptions: 0, emails: 1 })
    expect(again.use.figuresOf('acc_none')).toEqual({ bytes: 0, events: 0, exceptions: 0, emails: 0 })
  })

  test('are summed by account, and leave once they are 24 hours old', async () => {
    const clock = createManualClock()
    await using accounts = await open({ clock })
    const { use } = accounts
    use.add(commitOf('acc_a', 100), 'points')
    use.add(new Map([...commitOf('acc_a', 20), ...commitOf('acc_b', 3)]), 'points')
    expect([...use.all()]).toEqual([
      ['acc_a', 120],
      ['acc_b', 3],
    ])
    clock.passS(DAY_S)
    use.add(commitOf('acc_a', 7), 'points')
    expect(use.bytesOf('acc_a')).toBe(127) // the hour that runs has bytes of just now
    clock.passS(HOUR_S)
    expect([use.bytesOf('acc_a'), use.bytesOf('acc_b'), use.bytesOf('acc_c')]).toEqual([7, 0, 0])
    clock.passS(30 * DAY_S)
    expect([...use.all()]).toEqual([])
  })

  test('are as they were after a restart, and a clock that was ahead ends none of them early or late', async () => {
    const clock = createManualClock()
    const first = await open({ clock })
    const { account } = await first.create(ADA)
    first.use.add(commitOf(account.id, 100), 'points')
    clock.passS(HOUR_S)
    first.use.add(commitOf(account.id, 20), 'points')
    await first.close()
    const earlier = createManualClock(clock.wallUs() - 5 * DAY_S * 1e6)
    await using again = await open({ clock: earlier, path: first.path })
    expect(again.use.bytesOf(account.id)).toBe(120)
    earlier.passS(DAY_S)
    expect(again.use.bytesOf(account.id)).toBe(20)
    earlier.passS(HOUR_S)
    expect(again.use.bytesOf(account.id)).toBe(0)
  })

  test('go with a deleted account', async () => {
    const clock = createManualClock()
    const first = await open({ clock })
    await first.create(ADA)
    const { account } = await first.create({ ...ADA, email: 'bob@example.com' })
    first.use.add(commitOf(account.id, 100), 'points')
    await first.use.flush()
    await first.delete(account.id)
    expect(first.use.bytesOf(account.id)).toBe(0)
    await first.close()
    await using again = await open({ clock, path: first.path })
    expect([...again.use.all()]).toEqual([])
  })
})

test('says when an account is below a limit again', async () => {
  const clock = createManualClock(Date.UTC(2026, 10, 20) * 1000)
  await using accounts = openFresh({ clock })
  const { use } = accounts
  use.add(commitOf('acc_a', 60), 'points')
  clock.passS(2 * HOUR_S)
  use.add(commitOf('acc_a', 50), 'points')
  const at = (hours: number) => (Date.UTC(2026, 10, 20) + hours * 3_600_000) * 1000
  expect(use.fallsBelowUs('acc_a', 100)).toBe(at(25))
  expect(use.fallsBelowUs('acc_a', 50)).toBe(at(27))
  expect(use.fallsBelowUs('acc_a', 200)).toBe(at(2))
})

test('the count is never less than what was accepted in 24 hours, nor more than what was in 25', async () => {
  const sent = fc.record({ afterS: fc.integer({ min: 0, max: 8 * HOUR_S }), bytes: fc.integer({ min: 1, max: 1e9 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 40 }), fc.boolean(), async (commits, restarts) => {
      const clock = createManualClock()
      let accounts = openFresh({ clock })
      const { account } = await accounts.create(ADA)
      const past: { readonly atS: number; readonly bytes: number }[] = []
      const within = (spanS: number) => {
        const sinceS = clock.monotonicUs() / 1e6 - spanS
        return past.reduce((sum, { atS, bytes }) => (atS > sinceS ? sum + bytes : sum), 0)
      }
      for (const { afterS, bytes } of commits) {
        clock.passS(afterS)
        if (restarts) {
          await accounts.close()
          accounts = openFresh({ clock, path: accounts.path })
        }
        accounts.use.add(commitOf(account.id, bytes), 'points')
        past.push({ atS: clock.monotonicUs() / 1e6, bytes })
        const counted = accounts.use.bytesOf(account.id)
        expect(counted).toBeGreaterThanOrEqual(within(DAY_S))
        expect(counted).toBeLessThanOrEqual(within(DAY_S + HOUR_S))
      }
      await accounts.close()
    }),
    { numRuns: 30 },
  )
})
