import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Event } from '../../src/event/event.ts'
import { toRecord } from '../../src/event/record.ts'
import type { Spool } from '../../src/spool/spool.ts'
import { SpoolError } from '../../src/spool/spool-error.ts'
import type { WriteResult } from '../../src/store/sink.ts'
import type { StoreRequest } from '../support/memory-sink.ts'
import { createStepClock } from '../support/step-clock.ts'
import { until } from '../support/until.ts'
import { ACCOUNT, drain, markAt, marks, NOW_US, openShipTrial, type ShipTrial, stepUntilHeld } from './ship-trial.ts'

let trial: ShipTrial
beforeEach(async () => {
  trial = await openShipTrial()
})
afterEach(() => trial.close())

const BUSY: WriteResult = { kind: 'retry', reason: 'busy' }
const LOCKED_OUT: WriteResult = { kind: 'wait', reason: 'bad token' }
const REFUSED: WriteResult = { kind: 'refused', reason: 'field type conflict' }

const writes = () => trial.store.requests.filter((request) => request.kind === 'write')
const checks = () => trial.store.requests.filter((request) => request.kind === 'check')
const isUid = (...uids: number[]) => {
  const set = new Set(uids.map((i) => `u${i}`))
  return (event: Event) => 'uid' in event && set.has(event.uid)
}

/** The spool with some of its functions replaced. */
const withFaults = (spool: Spool, faults: Partial<Spool>): Spool =>
  new Proxy(spool, {
    get(target, name) {
      const value = Reflect.get(name in faults ? faults : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** Answers requests of a kind with the given results in turn, then lets the store work. */
function script(kind: StoreRequest['kind'], ...results: (WriteResult | 'answer_lost')[]): void {
  trial.store.faults.next = (request) => (request.kind === kind ? results.shift() : undefined)
}

describe('delivery', () => {
  test('delivers the spool to the store and keeps the position across a restart', async () => {
    await trial.append(marks(120))
    const shipper = trial.shipper()
    expect(await drain(shipper)).toEqual(['again', { pauseMs: 250 }, 'idle'])
    expect(trial.store.events()).toEqual(marks(120))
    expect(shipper.status().state).toBe('idle')

    await trial.reopen()
    expect(await drain(trial.shipper())).toEqual(['again', 'idle'])
    expect(writes()).toHaveLength(1)
  })

  test('sends waiting events in batches of 5,000 without pauses', async () => {
    await trial.append(marks(12_000))
    expect(await drain(trial.shipper())).toEqual(['again', 'again', { pauseMs: 250 }, { pauseMs: 250 }, 'idle'])
    expect(writes().map(({ events }) => events.length)).toEqual([5000, 5000, 2000])
  })

  test('writes few events at the pace of the store, and a full batch at once', async () => {
    const clock = createStepClock()
    const sink = { ...trial.store.sink(), pace: { atOnce: 2, everyMs: 10_000 } }
    const shipper = trial.shipper({ clock, sink })
    const writesAfter = async (events: number, passMs: number) => {
      await trial.append(marks(events, sent))
      sent += events
      clock.pass(passMs * 1000)
      const before = writes().length
      for (let i = 0; i < 10; i++) await shipper.step()
      return writes().length - before
    }
    let sent = 0
    expect(await writesAfter(3, 0)).toBe(1) // after a pause two may follow each other
    expect(await writesAfter(3, 0)).toBe(1)
    expect(await writesAfter(3, 9_000)).toBe(0)
    expect(await shipper.step()).toEqual({ pauseMs: 250 })
    expect(await writesAfter(3, 1_000)).toBe(1)
    expect(trial.store.events()).toHaveLength(sent)
    expect(await writesAfter(3, 5_000)).toBe(0)
    expect(await writesAfter(21_000, 0)).toBe(4)
    expect(trial.store.events()).toHaveLength(sent - 1_003)
    expect(await writesAfter(0, 9_900)).toBe(0)
    expect(await writesAfter(0, 100)).toBe(1) // full batches put off nothing
    clock.pass(60_000_000)
    expect([trial.store.events().length, await shipper.step()]).toEqual([sent, 'idle'])
    expect(await writesAfter(1, 0)).toBe(1)
  })

  test('a request has at most 10,000 lines, one per name of a metric', async () => {
    const items = Array.from({ length: 50 }, (_, i) => [`m${i}`, i] as const)
    const metrics = (i: number): Event => {
      return { kind: 'metrics', account: ACCOUNT, process: 'p', meta: '', stamp: { us: NOW_US + i, sub: 0 }, items }
    }
    await trial.append(Array.from({ length: 450 }, (_, i) => metrics(i)))
    await drain(trial.shipper())
    expect(writes().map(({ events }) => events.length)).toEqual([200, 200, 50])
  })

  test('counts delivered, expired and dead events and the outcome of each request', async () => {
    trial.store.faults = { isExpired: isUid(1, 2, 3), isPoison: isUid(7) }
    await trial.append(marks(10))
    await drain(trial.shipper())
    const { batches, deliveries, ...counts } = trial.counts
    expect(counts).toEqual({ delivered: 6, expired: 3, dead: 1 })
    expect(batches.refused).toBeGreaterThan(0)
    expect(batches.stored).toBeGreaterThan(0)
    expect(deliveries).toHaveLength(1)
    expect(deliveries[0]).toBeGreaterThanOrEqual(0)
    expect(deliveries[0]).toBeLessThan(5)
  })
})

test('a delivery whose oldest arrival is not known has no duration', async () => {
  await trial.append(marks(3))
  const stats: Spool['stats'] = () => ({ ...trial.spool.stats(), oldestUs: 0 })
  await drain(trial.shipper({ spool: withFaults(trial.spool, { stats }) }))
  expect([trial.store.events().length, trial.counts.deliveries]).toEqual([3, []])
})

describe('a busy or unreachable store', () => {
  test('is retried after a random pause that grows to 5 s', async () => {
    await trial.append(marks(3))
    script('write', ...Array(8).fill(BUSY))
    const shipper = trial.shipper({ random: () => 1 })
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) pauses.push(await stepUntilHeld(shipper))
    expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000])
    expect(shipper.status()).toMatchObject({ state: 'retrying', reason: 'busy' })
    await drain(shipper)
    expect(trial.store.events()).toEqual(marks(3))
    await trial.append(marks(1, 3))
    script('write', BUSY)
    expect(await stepUntilHeld(shipper)).toBe(100)
  })

  test.each([
    [7000, 7000],
    [86_400_000, 60_000],
    [1, 100],
  ])('with a retry-after of %i ms is retried after %i ms', async (afterMs, pauseMs) => {
    await trial.append(marks(3))
    script('write', { ...BUSY, afterMs })
    expect(await stepUntilHeld(trial.shipper({ random: () => 1 }))).toBe(pauseMs)
  })

  test('is awaited at the start before anything is written', async () => {
    await trial.append(marks(3))
    script('prepare', BUSY, LOCKED_OUT, REFUSED)
    const shipper = trial.shipper()
    const states: string[] = []
    for (let i = 0; i < 3; i++) {
      await shipper.step()
      states.push(shipper.status().state)
    }
    expect(states).toEqual(['retrying', 'parked', 'parked'])
    expect(writes()).toHaveLength(0)
    await drain(shipper)
    expect(trial.store.events()).toEqual(marks(3))
  })
})

describe('a store that needs the operator', () => {
  test('parks the destination, logs each reason once, and is prepared again before each retry', async () => {
    await trial.append(marks(3))
    script('write', ...Array(11).fill(LOCKED_OUT), { kind: 'wait', reason: 'no bucket' })
    const shipper = trial.shipper({ random: () => 1 })
    const pauses: number[] = []
    for (let i = 0; i < 12; i++) pauses.push(await stepUntilHeld(shipper))
    expect(pauses.at(-1)).toBe(15_000)
    expect(shipper.status()).toMatchObject({ state: 'parked', reason: 'no bucket' })
    const parked = trial.logged.filter(({ state }) => state === 'parked')
    expect(parked.map(({ reason }) => reason)).toEqual(['bad token', 'no bucket'])
    await drain(shipper)
    expect(trial.store.requests.map(({ kind }) => kind)).toEqual(Array(13).fill(['prepare', 'write']).flat())
    expect(trial.logged.filter(({ msg }) => msg === 'delivery resumed')).toHaveLength(1)
    expect(trial.store.events()).toEqual(marks(3))
  })
})

describe('a batch that is too large', () => {
  test('is split and makes the following ones smaller, and all events arrive once', async () => {
    trial.store.faults = { maxEvents: 700 }
    await trial.append(marks(15_000))
    await drain(trial.shipper())
    expect(trial.store.events()).toEqual(marks(15_000))
    expect(marks(15_000).every((event) => trial.store.timesWritten(event) === 1)).toBe(true)
    expect(trial.dead()).toEqual([])
    expect(trial.counts.batches.too_large).toBeLessThan(7)
  })

  test('makes requests grow again, batch by batch, once the store takes more', async () => {
    const shipper = trial.shipper()
    trial.store.faults = { maxEvents: 700 }
    await trial.append(marks(5_000))
    await drain(shipper)
    trial.store.faults = {}
    const before = writes().length
    await trial.append(marks(10_000, 5_000))
    await drain(shipper)
    const [first = 0, ...others] = writes()
      .slice(before)
      .map(({ events }) => events.length)
    expect(Math.max(...others)).toBeGreaterThan(first)
  })

  test('an event that is too large alone goes to the dead letters, and the others arrive', async () => {
    trial.store.faults.next = (request) =>
      request.kind === 'write' && request.events.some(isUid(5)) ? { kind: 'too_large', reason: '413' } : undefined
    await trial.append(marks(40))
    await drain(trial.shipper())
    expect(trial.dead().map(({ record, reason }) => ({ record, reason }))).toEqual([
      { record: toRecord(markAt(5)), reason: '413' },
    ])
    expect(trial.store.events()).toHaveLength(39)
  })
})

describe('poison', () => {
  test('buries a whole batch of 5,000 with little more than a request per event', async () => {
    trial.store.faults = { isPoison: () => true }
    await trial.append(marks(5000))
    await drain(trial.shipper())
    expect(trial.deadLetters.stats().total).toBe(5000)
    expect(trial.counts.dead).toBe(5000)
    expect(writes().length).toBeLessThan(5050)
    expect(checks().length).toBeLessThan(50)
  })

  test('goes to the dead letters with its destination, account, reason and record', async () => {
    trial.store.faults = { isPoison: () => true }
    await trial.append([{ ...markAt(1), account: 'other' }, markAt(2)])
    await drain(trial.shipper())
    expect(trial.dead('other')).toMatchObject([
      {
        destination: 'points',
        account: 'other',
        reason: 'poison',
        record: toRecord({ ...markAt(1), account: 'other' }),
      },
    ])
    expect(trial.dead()).toMatchObject([{ account: ACCOUNT, record: toRecord(markAt(2)) }])
  })

  test('a store that is busy during a search costs only the retries', async () => {
    trial.store.faults = { isPoison: isUid(3210) }
    await trial.append(marks(5000))
    await drain(trial.shipper())
    const undisturbed = writes().length + checks().length

    await trial.append(marks(5000, 10_000))
    trial.store.requests.length = 0
    let turn = 0
    trial.store.faults = {
      isPoison: isUid(13_210),
      next: ({ kind }) => (kind === 'write' ? [undefined, BUSY, undefined, LOCKED_OUT][turn++ % 4] : undefined),
    }
    await drain(trial.shipper())
    expect(writes().length).toBeGreaterThan(undisturbed)
    expect(Math.ceil(writes().length / 2) + checks().length).toBeLessThanOrEqual(undisturbed + 1)
    expect(marks(5000, 10_000).filter((event) => trial.store.timesWritten(event) !== 1)).toEqual([markAt(13_210)])
  })

  test('buries unreadable records without an account', async () => {
    await trial.appendRecords(['["s"]', toRecord(markAt(1)), 'not json', '["q",1,1,"a","p","",""]'])
    await drain(trial.shipper())
    expect(trial.dead('').map(({ record, reason }) => `${reason}: ${record}`)).toEqual([
      'unreadable record: ["s"]',
      'unreadable record: not json',
      'unreadable record: ["q",1,1,"a","p","",""]',
    ])
    expect(trial.store.events()).toEqual([markAt(1)])
  })
})

describe('a store that refuses valid events as well', () => {
  test.each([
    ['waits for an operator', LOCKED_OUT, 'parked'],
    ['refuses the check', REFUSED, 'parked'],
    ['is away by then', BUSY, 'retrying'],
  ] as const)('buries nothing when it %s', async (_, answer, state) => {
    await trial.append(marks(100))
    let isBroken = true
    trial.store.faults.next = (request) => {
      if (!isBroken || request.kind === 'prepare') return undefined
      return request.kind === 'check' ? answer : REFUSED
    }
    const shipper = trial.shipper()
    for (let i = 0; i < 5; i++) await stepUntilHeld(shipper)
    expect(shipper.status().state).toBe(state)
    expect(trial.deadLetters.stats().total).toBe(0)
    expect(trial.spool.stats().records).toBe(100)

    isBroken = false
    await drain(shipper)
    expect(trial.store.events()).toEqual(marks(100))
    expect(trial.deadLetters.stats().total).toBe(0)
  })

  test('gets one small request per retry, not a search', async () => {
    await trial.append(marks(1000))
    trial.store.faults.next = ({ kind }) => (kind === 'prepare' ? undefined : REFUSED)
    const shipper = trial.shipper()
    await stepUntilHeld(shipper)
    const before = writes().length
    const checked = checks().length
    for (let i = 0; i < 20; i++) await stepUntilHeld(shipper)
    expect(writes().length).toBe(before)
    expect(checks().length).toBe(checked + 20)
  })

  test('after much poison gets few requests when it breaks for the second time', async () => {
    await trial.append(marks(1000))
    const shipper = trial.shipper()
    const breakIt = async () => {
      trial.store.faults = { next: ({ kind }) => (kind === 'prepare' ? undefined : REFUSED) }
      const before = writes().length
      await stepUntilHeld(shipper)
      return writes().length - before
    }
    trial.store.faults = { isPoison: () => true }
    while (checks().length < 5) await shipper.step()
    expect(await breakIt()).toBeGreaterThan(20)
    trial.store.faults = {}
    const checked = checks().length
    while (checks().length === checked) await shipper.step()
    expect(await breakIt()).toBeLessThan(20)
    expect(trial.deadLetters.stats().total).toBe(0)
  })

  test('that refuses only one kind is detected by an event of that kind', async () => {
    const exception: Event = {
      ...{ kind: 'exception', account: ACCOUNT, process: 'p', meta: '', exception: 'x' },
      stamp: { us: NOW_US + 50, sub: 0 },
    }
    const isBroken = (event: Event) => event.kind === 'exception'
    trial.store.faults = {
      isPoison: (event) => isBroken(event) || isUid(3, 9)(event),
      next: (request) => (request.kind === 'check' && isBroken(request.like) ? LOCKED_OUT : undefined),
    }
    await trial.append([...marks(10), exception, ...marks(10, 100)])
    const shipper = trial.shipper()
    await stepUntilHeld(shipper)
    expect(trial.deadLetters.stats().total).toBe(0)

    trial.store.faults = { isPoison: isUid(3, 9) }
    await drain(shipper)
    expect(trial.dead().map(({ record }) => record)).toEqual([toRecord(markAt(3)), toRecord(markAt(9))])
    expect(trial.store.events()).toHaveLength(19)
  })
})

describe('a measurement that another writer broke', () => {
  const metric = (i: number): Event => ({
    ...{ kind: 'metrics', account: ACCOUNT, process: 'p', meta: '', items: [['a', i]] },
    stamp: { us: NOW_US + 1000 + i, sub: 0 },
  })
  const isMetric = (event: Event) => event.kind === 'metrics'

  const REFUSE_METRICS = {
    isPoison: isMetric,
    next: (request: StoreRequest) => (request.kind === 'check' && isMetric(request.like) ? REFUSED : undefined),
  }

  test('parks the destination and says so; after the repair all is delivered, and nothing is buried or lost', async () => {
    trial.store.faults = REFUSE_METRICS
    await trial.append([...marks(5), metric(0), ...marks(5, 10)])
    const shipper = trial.shipper({ limits: { records: 4, bytes: 2 ** 20 } })
    for (let i = 0; i < 3; i++) await stepUntilHeld(shipper)
    expect(shipper.status()).toMatchObject({
      state: 'parked',
      reason: 'the store takes no metrics of the hour 2027-01-15T08:00Z: field type conflict',
    })
    expect(trial.spool.stats().records).toBeGreaterThan(5)

    await trial.reopen()
    const again = trial.shipper()
    await stepUntilHeld(again)
    trial.store.faults = {}
    await drain(again)
    expect(trial.store.events()).toHaveLength(11)
    expect(trial.deadLetters.stats().total).toBe(0)
  })

  test('that is repaired cannot be given up, also while its events are still being sent', async () => {
    trial.store.faults = REFUSE_METRICS
    await trial.append([...marks(5), metric(0)])
    const shipper = trial.shipper()
    await stepUntilHeld(shipper)
    trial.store.faults = {}
    const checked = checks().length
    while (checks().length === checked) await shipper.step()
    expect(trial.spool.stats().records).toBe(6)
    expect(shipper.buryHeld('given up')).toEqual([])
  })

  test('goes to the dead letters on request of the operator; later events do not', async () => {
    trial.store.faults = REFUSE_METRICS
    const shipper = trial.shipper({ limits: { records: 4, bytes: 2 ** 20 } })
    expect(shipper.buryHeld('nothing is broken')).toEqual([])
    const hoursLater = (i: number): Event => ({ ...metric(i), stamp: { us: NOW_US + i * 3.6e9, sub: 0 } })
    const broken = [metric(0), metric(1), hoursLater(2), metric(3), metric(4), hoursLater(5)]
    await trial.append([...marks(5), ...broken.slice(0, 3), ...marks(5, 10), ...broken.slice(3)])
    await stepUntilHeld(shipper)
    expect(shipper.buryHeld('the measurement belongs to others')).toEqual(['metrics'])
    await drain(shipper)
    expect(trial.store.events()).toHaveLength(10)
    const buried = trial.dead().map(({ record, reason }) => [record, reason])
    expect(buried.toSorted()).toEqual(
      broken.map((event) => [toRecord(event), 'the measurement belongs to others']).toSorted(),
    )

    await trial.append([...marks(2, 30), metric(6)])
    await stepUntilHeld(shipper)
    expect(trial.deadLetters.stats().total).toBe(broken.length)
    trial.store.faults = {}
    await drain(shipper)
    expect(trial.deadLetters.stats().total).toBe(broken.length)
    expect(trial.store.events()).toHaveLength(13)
  })

  test('of all events that are given up, few are sent first', async () => {
    trial.store.faults = REFUSE_METRICS
    const shipper = trial.shipper()
    await trial.append(Array.from({ length: 5000 }, (_, i) => metric(i)))
    await stepUntilHeld(shipper)
    shipper.buryHeld('given up')
    await drain(shipper)
    expect(trial.deadLetters.stats().total).toBe(5000)
    expect(writes().length).toBeLessThan(20)
  })
})

describe('full dead letters', () => {
  test('park the destination until there is room; the valid events of the batch arrive', async () => {
    await trial.close()
    trial = await openShipTrial({ maxDeadBytes: 4000, faults: { isPoison: (event) => event.process.length > 1 } })
    const poison = (i: number): Event => ({ ...markAt(i), process: `bad${'x'.repeat(900)}` })
    await trial.append([...marks(5), ...Array.from({ length: 8 }, (_, i) => poison(100 + i))])
    const shipper = trial.shipper()
    await stepUntilHeld(shipper)
    expect(shipper.status()).toMatchObject({ state: 'parked' })
    expect(shipper.status().reason).toContain('dead letters')
    expect(trial.store.events()).toHaveLength(5)
    expect(trial.spool.stats().records).toBe(13)

    const seen = new Set<string>()
    for (let i = 0; i < 50 && shipper.status().state !== 'idle'; i++) {
      for (const { id, record } of trial.dead()) {
        seen.add(record)
        trial.deadLetters.remove(ACCOUNT, id)
      }
      await shipper.step()
    }
    for (const { record } of trial.dead()) seen.add(record)
    expect([...seen].sort()).toEqual(Array.from({ length: 8 }, (_, i) => toRecord(poison(100 + i))))
    expect(trial.spool.stats().records).toBe(0)
  })
})

describe('a failing disk', () => {
  test('that rejects the position pauses delivery; nothing is sent again afterwards', async () => {
    await trial.append(marks(3))
    let fails = 3
    const advance: Spool['advance'] = async (next) => {
      if (fails-- > 0) throw new Error('EIO')
      return trial.spool.advance(next)
    }
    const shipper = trial.shipper({ spool: withFaults(trial.spool, { advance }) })
    await stepUntilHeld(shipper)
    expect(shipper.status()).toMatchObject({ state: 'retrying', reason: 'the position in the spool cannot be written' })
    await drain(shipper)
    expect(writes()).toHaveLength(1)
    expect(trial.spool.stats().records).toBe(0)
  })

  test('that cannot be read pauses delivery until it recovers', async () => {
    await trial.append(marks(3))
    let fails = 2
    const read: Spool['read'] = async (...args) => {
      if (fails-- > 0) throw new SpoolError('disk_failed', new Error('the segment 1.segment cannot be read'))
      return trial.spool.read(...args)
    }
    const shipper = trial.shipper({ spool: withFaults(trial.spool, { read }) })
    await stepUntilHeld(shipper)
    expect(shipper.status().reason).toBe('the spool cannot be read: the segment 1.segment cannot be read')
    await drain(shipper)
    expect(trial.store.events()).toEqual(marks(3))
  })

  test('the store answers first, then dead letters become durable, then the position moves', async () => {
    trial.store.faults = { isPoison: isUid(1) }
    const order: string[] = []
    await trial.append(marks(3))
    trial.store.faults.next = (request) => void order.push(request.kind)
    const { bury } = trial.deadLetters
    const shipper = trial.shipper({
      spool: withFaults(trial.spool, {
        advance: async (next) => {
          order.push('advance')
          return trial.spool.advance(next)
        },
      }),
      deadLetters: {
        ...trial.deadLetters,
        bury: (letters) => {
          order.push('bury')
          bury.call(trial.deadLetters, letters)
        },
      },
    })
    await drain(shipper)
    expect(order.slice(-2)).toEqual(['bury', 'advance'])
    expect(order.filter((what) => what === 'advance')).toHaveLength(1)
  })
})

describe('a sink that breaks its contract by throwing', () => {
  test('neither ends the loop nor loses an event', async () => {
    await trial.append(marks(3))
    let throws = 2
    const sink = trial.store.sink()
    const shipper = trial.shipper({
      sink: {
        ...sink,
        write: (events) => {
          if (throws-- > 0) throw new TypeError('undefined is not a function')
          return sink.write(events)
        },
      },
    })
    await stepUntilHeld(shipper)
    expect(shipper.status()).toMatchObject({ state: 'retrying', reason: 'a fault inside Stint' })
    await drain(shipper)
    expect(trial.store.events()).toEqual(marks(3))
  })
})

describe('the loop', () => {
  test('makes each event visible, also one that arrives right after a write', async () => {
    const shipper = trial.shipper()
    shipper.start()
    for (let i = 0; i < 2; i++) {
      await trial.append([markAt(i)])
      await until('trial.store.events().length === i + 1', () => trial.store.events().length === i + 1)
    }
    await shipper.stop()
  })

  test('stops immediately during a back-off', async () => {
    await trial.append(marks(3))
    trial.store.faults.next = ({ kind }) => (kind === 'write' ? { ...BUSY, afterMs: 3_600_000 } : undefined)
    const shipper = trial.shipper()
    shipper.start()
    await until('shipper.status().state === "retrying"', () => shipper.status().state === 'retrying')
    await shipper.stop() // the time limit of the test is shorter than the back-off
    expect(trial.spool.stats().records).toBe(3)
  })

  test('stops immediately while idle', async () => {
    const shipper = trial.shipper()
    shipper.start()
    await until('trial.store.requests.length === 1', () => trial.store.requests.length === 1)
    await shipper.stop()
    expect(shipper.status().state).toBe('idle')
  })

  test('finishes the current write when stopped and starts no other', async () => {
    await trial.append(marks(12_000))
    const reached = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const sink = trial.store.sink()
    const shipper = trial.shipper({
      sink: {
        ...sink,
        async write(events) {
          reached.resolve()
          await answer.promise
          return sink.write(events)
        },
      },
    })
    shipper.start()
    await reached.promise
    let isStopped = false
    const stopped = shipper.stop().then(() => {
      isStopped = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(isStopped).toBe(false)
    answer.resolve()
    await stopped
    expect(writes()).toHaveLength(1)
    expect(trial.spool.stats().records).toBe(7000)
  })
})
