// Decisions about groups of 2.0, whose fingerprints were v4: they stay, whichever node stores the next exception.
import { describe, expect, test } from 'bun:test'
import pino from 'pino'
import type { Exception } from '../../src/event/event.ts'
import { fingerprint, formerFingerprint } from '../../src/event/fingerprint.ts'
import { parseStampNs } from '../../src/event/stamp.ts'
import { createChangeGroup } from '../../src/query/exception-groups.ts'
import { adoptDecisions } from '../../src/query/former-decisions.ts'
import type { GroupState } from '../../src/query/group-states.ts'
import { createIsIgnored } from '../../src/service/open-watch-room.ts'
import { STORED } from '../../src/store/sink.ts'
import type { GroupKey } from '../../src/store/source.ts'
import { memoryQuestions, NOW_NS } from '../support/memory-questions.ts'
import { createMemorySource } from '../support/memory-source.ts'

const NOW_US = Number(NOW_NS / 1000n)
const ADA = 'ada@example.com'
const FAULTS = Array.from(
  { length: 50 },
  (_, i) =>
    `{"level":"error","msg":"${'abcdefghij'[i % 10]} of ${'klmno'[i % 5]}${'pq'[i % 2]} is shut","step":"s${i}"}`,
)

const raised = (exception: string, agoS = 5, process = 'p'): Exception => ({
  ...{ kind: 'exception', account: 'a', process, meta: '', exception },
  stamp: parseStampNs(NOW_NS - BigInt(agoS) * 1_000_000_000n),
})

/** A node of 2.1 with the decisions of 2.0; `away`: its database does not answer. */
function node(states: GroupState[]) {
  const events: Exception[] = []
  const at = { away: false, us: 0 }
  const held = {
    async list() {
      if (at.away) throw new Error('the database is away')
      return [...states]
    },
    find: async (_: string, process: string, fingerprints: readonly string[]) =>
      (await held.list()).filter((it) => it.process === process && fingerprints.includes(it.fingerprint)),
    async put(_: string, added: readonly GroupState[]) {
      await held.remove('', added)
      states.push(...added)
    },
    async remove(_: string, keys: readonly GroupKey[]) {
      const isGone = (it: GroupKey) =>
        keys.some((key) => key.fingerprint === it.fingerprint && key.process === it.process)
      states.splice(0, states.length, ...states.filter((it) => !isGone(it)))
    },
  }
  const sink = {
    ...{ store: 'memory', prepare: async () => STORED, check: async () => STORED, erase: async () => STORED },
    close: async () => {},
    async write(some: readonly unknown[]) {
      events.push(...(some as Exception[]))
      return STORED
    },
  }
  const adopting = adoptDecisions(sink, {
    states: held,
    clock: { monotonicUs: () => at.us },
    log: pino({ enabled: false }),
  })
  const questions = memoryQuestions(events, { groupStates: held })
  const { exceptions } = createMemorySource(events)
  const isIgnored = createIsIgnored({ groupStates: held })
  return {
    ...{ at, states, events },
    send: (...some: Exception[]) => adopting.write(some),
    isIgnored: (exception: Exception) => isIgnored(exception, NOW_US - 1_000_000),
    change: createChangeGroup({ exceptions, states: held, nowUs: () => NOW_US, changed: () => {} }),
    groups: async (query = '') => questions.groups('a', new URLSearchParams(query)),
  }
}
const decided = (text: string, status: GroupState['status'] = 'ignored', agoS = 60): GroupState => ({
  ...{ fingerprint: formerFingerprint(text), process: 'p', status, by: ADA, atUs: NOW_US - agoS * 1e6 },
})

describe('after an upgrade', () => {
  test('exceptions of 50 ignored groups are no new groups and no alerts', async () => {
    const { send, groups, isIgnored } = node(FAULTS.map((text, i) => ({ ...decided(text), atUs: NOW_US - i })))
    const alerts = await Promise.all(FAULTS.map((text) => isIgnored(raised(text))))
    expect(alerts).not.toContain(false)
    await send(...FAULTS.map((text) => raised(text)))
    expect((await groups()).groups).toEqual([])
    const { groups: ignored } = await groups('status=ignored')
    expect(ignored.map(({ status_of }) => status_of!.slice(0, 3))).toEqual(ignored.map(() => 'v4:'))
  })

  test('another fault, another process and a group without a decision stay unresolved', async () => {
    const { send, groups, isIgnored } = node([decided('no rates')])
    await send(raised('no rates'), raised('no rates', 4, 'q'), raised('no room'))
    expect((await groups()).groups.map(({ process, example }) => [process, example])).toEqual([
      ['q', 'no rates'],
      ['p', 'no room'],
    ])
    expect([await isIgnored(raised('no rates', 4, 'q')), await isIgnored(raised('no room'))]).toEqual([false, false])
  })

  test('a group that 2.0 resolved is regressed once it is raised again', async () => {
    const { send, groups } = node([decided('no rates', 'resolved', 60)])
    await send(raised('no rates', 90))
    expect((await groups()).groups).toEqual([])
    await send(raised('no rates', 30))
    expect((await groups()).groups.map(({ status }) => status)).toEqual(['regressed'])
  })

  test('a decision that a 2.0 node makes later is taken by the next exception', async () => {
    const { send, groups, states, at } = node([])
    await send(raised('no rates', 9))
    states.push(decided('no rates'))
    at.us += 3_000_000
    await send(raised('no rates', 8))
    expect((await groups()).groups).toEqual([])
  })

  test('without an answer of the database the exceptions are stored', async () => {
    const { send, at, events } = node([decided('no rates')])
    at.away = true
    expect(await send(raised('no rates'))).toEqual(STORED)
    expect(events).toHaveLength(1)
  })
})

describe('another decision', () => {
  const wide = (text: string) => ({ fingerprint: fingerprint(text), process: 'p' })

  test('is of this group alone', async () => {
    const { send, groups, change } = node([decided('no rates')])
    await send(raised('no rates'))
    await change('a', 'bob@example.com', wide('no rates'), 'resolved')
    await send(raised('no rates', 5))
    const { groups: all } = await groups('status=all')
    expect(all.map(({ status, status_by, status_of }) => [status, status_by, status_of])).toEqual([
      ['resolved', 'bob@example.com', undefined],
    ])
  })

  test('reopens the group of 2.0, too, which the next exception would copy again', async () => {
    const { send, groups, change, states, at } = node([decided('no rates')])
    await send(raised('no rates'))
    await change('a', ADA, wide('no rates'), 'unresolved')
    at.us += 3_000_000
    await send(raised('no rates', 4))
    expect((await groups()).groups.map(({ status }) => status)).toEqual(['unresolved'])
    expect(states).toEqual([])
  })
})

test('what 2.0 stored of a group counts for its first and last time', async () => {
  const events = [raised('no rates', 5)]
  const source = createMemorySource(events)
  const [firstNs, lastNs] = [NOW_NS - 9_000_000_000_000n, NOW_NS - 1_000_000_000n]
  const old = { fingerprint: formerFingerprint('no rates'), process: 'p', firstNs, lastNs }
  const exceptions = {
    ...source.exceptions,
    findGroupSpans: async (q: Parameters<typeof source.exceptions.findGroupSpans>[0]) => [
      ...(await source.exceptions.findGroupSpans(q)),
      ...(q.only?.some((key) => key.fingerprint === old.fingerprint) ? [old] : []),
    ],
  }
  const [group] = (await memoryQuestions(events, { exceptions }).groups('a', new URLSearchParams())).groups
  expect(group).toMatchObject({ first_at: '2025-11-20T18:50:00.000000000Z', last_at: '2025-11-20T21:19:59.000000000Z' })
})
