// Random histories on a grid of whole seconds, and the question every rule's oracle answers: does the alert fire at second t?
import fc from 'fast-check'
import type { Blind, Episode, Judgement } from '../../../src/watch/rules/episode.ts'
import { compareMarks, type WatchMark } from '../../../src/watch/rules/runs.ts'

export const S = 1_000_000
export const LAST_S = 120
export const MAX_RUN_S = 40

export interface SecondMark {
  readonly mark: WatchMark['mark']
  readonly uid: string
  readonly at: number
}

export const secondMarks = fc.array(
  fc.record<SecondMark>({
    mark: fc.constantFrom('start', 'start', 'start', 'end', 'end', 'failed'),
    uid: fc.constantFrom('', 'a', 'b'),
    at: fc.nat(LAST_S),
  }),
  { maxLength: 25 },
)

export type RunPlan = readonly [uid: string, from: number, to?: number, end?: 'end' | 'failed']

/** The marks of runs; one without `to` is open. */
export const runs = (...list: readonly RunPlan[]): SecondMark[] =>
  list.flatMap(([uid, at, to, end = 'end']): SecondMark[] => [
    { mark: 'start', uid, at },
    ...(to === undefined ? [] : [{ mark: end, uid, at: to }]),
  ])

export const toMarks = (marks: readonly SecondMark[]): WatchMark[] =>
  marks.map(({ mark, uid, at }) => ({ mark, uid, atUs: Math.round(at * S) })).sort(compareMarks)

export const judgementAt = (atS: number, sinceS = 0, blind: readonly Blind[] = []): Judgement => ({
  knownUs: atS * S,
  sinceUs: sinceS * S,
  maxRunUs: MAX_RUN_S * S,
  blind,
})

/** Whether one of the episodes covers second t, the moment that begins it not included: an alert fires once its limit is exceeded. */
export const firesAt = (episodes: readonly Episode[], t: number): boolean =>
  episodes.some(({ sinceUs, untilUs = Number.POSITIVE_INFINITY }) => sinceUs < t * S && t * S < untilUs)
