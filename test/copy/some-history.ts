// A history of every kind of event that a store may hold: stamps of arrival and own times of each precision, failed ends, uids, repeats, several accounts and weeks.
import type { Event } from '../../src/event/event.ts'
import { contentOf, ownStamp } from '../../src/event/identity.ts'

export const ACCOUNTS = ['acc_one', 'acc_two'] as const
export const FROM_US = Date.UTC(2026, 8, 20) * 1000
const SPAN_US = 20 * 86_400e6
export const TO_US = FROM_US + SPAN_US

/** `count` events, the same every time, in the order of their times. */
export function* someHistory(count: number): Generator<Event> {
  const stepUs = Math.floor(SPAN_US / count)
  for (let i = 0; i < count; i++) {
    const us = FROM_US + i * stepUs + (i % 977)
    yield stamped(draftOf(i), us, i)
  }
}

type Draft = Event extends infer E ? (E extends Event ? Omit<E, 'stamp'> : never) : never

function draftOf(i: number): Draft {
  const run = Math.floor(i / 4)
  const common = {
    account: ACCOUNTS[run % 5 === 0 ? 1 : 0]!,
    process: `job ${run % 7}, "é" =x`.replaceAll('"', ''),
    meta: run % 3 === 0 ? '' : `meta ${run % 11}`,
  }
  const uid = run % 4 === 0 ? '' : `run-${run}`
  const ofRun = uid === '' ? {} : { uid }
  switch (i % 4) {
    case 0:
      return { kind: 'start', ...common, uid }
    case 1:
      return { kind: 'metrics', ...common, ...ofRun, items: itemsOf(i) }
    case 2:
      return run % 6 === 0
        ? { kind: 'exception', ...common, ...ofRun, exception: `Error: row ${i % 50}\n\tat "x" 'y' \\ \u0000 €` }
        : run % 6 === 1
          ? { kind: 'output', ...common, ...ofRun, output: `row ${i}\n\tat "x" 'y' \\ \u0000 €` }
          : { kind: 'metrics', ...common, items: [['rows', i]] }
    default:
      return { kind: 'end', ...common, uid, ...(run % 9 === 0 && { failed: true as const }) }
  }
}

const itemsOf = (i: number): [string, number][] =>
  Array.from({ length: 1 + (i % 3) }, (_, k) => [`name ${k}`, (i + k) / 3 - 100])

function stamped(draft: Draft, us: number, i: number): Event {
  const at = [us, us, us - (us % 1000), us - (us % 1_000_000)][Math.floor(i / 16) % 4]!
  if (Math.floor(i / 16) % 4 === 0) return { ...draft, stamp: { us, sub: 4 * (i % 200) } } as Event
  return { ...draft, stamp: ownStamp(at, contentOf({ ...draft, stamp: { us: 0, sub: 0 } } as Event)) } as Event
}
