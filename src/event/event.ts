// What arrives. An event is complete: its account, its stripped fields and its final stamp.
import type { Stamp } from './stamp.ts'

interface Common {
  readonly account: string
  readonly process: string
  /** '' = without meta. */
  readonly meta: string
  readonly stamp: Stamp
}

export interface Mark extends Common {
  readonly kind: 'start' | 'end'
  /** '' = without uid, which is a group of its own in pairing. */
  readonly uid: string
  /** An end only: the caller says that this run failed. */
  readonly failed?: true
}

/** One request's metrics: they share a stamp. Each item becomes one point or row. */
export interface Metrics extends Common {
  readonly kind: 'metrics'
  /** The run that they belong to; absent = unknown, never ''. */
  readonly uid?: string
  readonly items: readonly (readonly [name: string, value: number])[]
}

export interface Exception extends Common {
  readonly kind: 'exception'
  /** The run that raised it; absent = unknown, never ''. */
  readonly uid?: string
  readonly exception: string
}

export type Event = Mark | Metrics | Exception
export type EventKind = Event['kind']

/** What a mark is in the stores. */
export type MarkName = 'start' | 'end' | 'failed'

export const markName = ({ kind, failed }: Mark): MarkName => (failed === true ? 'failed' : kind)

export const EVENT_KINDS: readonly EventKind[] = ['start', 'end', 'metrics', 'exception']

export const isEventKind = (value: unknown): value is EventKind => (EVENT_KINDS as readonly unknown[]).includes(value)

/** Where an event goes: one spool, one shipper and one store each. */
export type Destination = 'points' | 'exceptions'

export const destinationOf = (kind: EventKind): Destination => (kind === 'exception' ? 'exceptions' : 'points')
