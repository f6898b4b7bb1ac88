// What a watch would have fired on stored history: the same judge over the events of the stores, each at its own time
// and without downtimes. Pure; a step judges some events, because a cron expression that is due each minute is slow.
import type { PreviewedAlert } from '../../wire/watch-preview.ts'
import { CONDITIONS } from '../conditions/conditions.ts'
import { iso } from '../conditions/wording.ts'
import type { StoredWatch } from '../watch.ts'
import { createJudge } from './judge.ts'
import type { Change, JudgedWatch, Mark, Point, RaisedException } from './judge-interface.ts'

interface PreviewInput {
  readonly spec: StoredWatch['spec']
  /** Counts from just before `fromUs`, the oldest event. */
  readonly watch: JudgedWatch
  readonly fromUs: number
  readonly toUs: number
  readonly maxRunUs: number
  /** In any order; `arrivedUs` is not used. */
  readonly marks: readonly Mark[]
  readonly points: readonly Point[]
  readonly exceptions: readonly RaisedException[]
}

const ACCOUNT = 'preview'
const EVENTS_A_STEP = 200
/** Older ones are only counted. */
export const PREVIEW_ALERTS = 100

type Opened = Extract<Change, { kind: 'open' }>
type Entry =
  | { readonly kind: 'mark'; readonly event: Mark }
  | { readonly kind: 'point'; readonly event: Point }
  | { readonly kind: 'exception'; readonly event: RaisedException }

export function createPreview({ spec, watch, fromUs, toUs, maxRunUs, ...events }: PreviewInput) {
  /** By identity, oldest first. */
  const found = new Map<string, { readonly open: Opened; end?: Extract<Change, { kind: 'end' }> }>()
  let total = 0
  const emit = (change: Change) => {
    const { identity } = change.alert
    if (change.kind === 'open') {
      total++
      found.set(identity, { open: change })
      if (found.size > PREVIEW_ALERTS) found.delete(found.keys().next().value!)
    }
    const opened = found.get(identity)
    if (change.kind === 'end' && opened !== undefined) opened.end = change
  }
  const judge = createJudge({ maxRunUs, emit, isKnown: () => false })
  judge.setWatches(ACCOUNT, { watches: [watch], firing: [], byHand: [] }, fromUs)
  const entries = inOrder(events)
  let next = 0

  function advance(us: number): void {
    while (!judge.advance(us)) judge.takeDirty()
  }

  function apply({ kind, event: { atUs: arrivedUs }, event }: Entry): void {
    advance(arrivedUs)
    if (kind === 'mark') judge.applyMark(ACCOUNT, { ...event, arrivedUs })
    else if (kind === 'point') judge.applyPoint(ACCOUNT, { ...event, arrivedUs })
    else judge.applyException(ACCOUNT, { ...event, arrivedUs })
  }

  return {
    /** Whether to go on. */
    step(): boolean {
      for (const entry of entries.slice(next, next + EVENTS_A_STEP)) apply(entry)
      next += EVENTS_A_STEP
      judge.takeDirty()
      if (next < entries.length) return true
      advance(toUs)
      return false
    },
    /** Newest first. */
    alerts: (): PreviewedAlert[] =>
      [...found.values()].reverse().map(({ open, end }) => {
        const { condition, process, meta, episode } = open.alert
        const untilUs = open.untilUs ?? end?.untilUs
        const entry = CONDITIONS[condition]
        const summary = entry.summarize({ process, meta }, spec[condition], episode)
        const fired = {
          process,
          meta,
          sinceUs: episode.sinceUs,
          uid: episode.uid ?? null,
          startedUs: episode.startedUs ?? null,
        }
        const ended = (us: number) =>
          `; ${entry.summarizeEnd({ ...fired, episode }, us, end?.ended ?? episode, spec[condition])}`
        return {
          condition,
          process,
          meta,
          uid: episode.uid || null,
          since: iso(episode.sinceUs),
          resolved_at: untilUs === undefined ? null : iso(untilUs),
          summary: `${summary}${untilUs === undefined ? '' : ended(untilUs)}`,
        }
      }),
    total: () => total,
  }
}

const RANK = { start: 0, point: 1, exception: 2, end: 3, failed: 4 }

/** By time; of one time a start first and an end last. */
function inOrder({ marks, points, exceptions }: Pick<PreviewInput, 'marks' | 'points' | 'exceptions'>): Entry[] {
  const all: Entry[] = [
    ...marks.map((event) => ({ kind: 'mark', event }) as const),
    ...points.map((event) => ({ kind: 'point', event }) as const),
    ...exceptions.map((event) => ({ kind: 'exception', event }) as const),
  ]
  const rankOf = (entry: Entry) => RANK[entry.kind === 'mark' ? entry.event.kind : entry.kind]
  return all.sort((a, b) => a.event.atUs - b.event.atUs || rankOf(a) - rankOf(b))
}
