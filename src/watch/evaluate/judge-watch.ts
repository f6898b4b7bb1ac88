// Judges one watch by a known history → its instances (the subjects that can fire independently) with their episodes.
import type { Condition } from '../../wire/alerts.ts'
import type { Episode, Judgement } from '../rules/episode.ts'
import { type FailedRule, judgeFailed } from '../rules/failed.ts'
import { judgeLate, type LateRule } from '../rules/late.ts'
import { judgeLong } from '../rules/long.ts'
import { findRuns } from '../rules/runs.ts'
import { judgeSlow } from '../rules/slow.ts'
import type { Series } from './memory.ts'

export interface Instance {
  /** The same at every evaluation. */
  readonly key: string
  readonly condition: Condition
  readonly process: string
  readonly meta: string | null
  readonly episodes: readonly Episode[]
}

/** The part of a watch that is judged by marks. */
export interface WatchView {
  readonly process: string
  readonly isPattern: boolean
  readonly meta: string | null
  readonly rules: {
    readonly late?: LateRule
    readonly longUs?: number
    readonly failed?: FailedRule
    readonly slow?: number
    matches(process: string): boolean
  }
}

const SEEN_WITHIN_US = 30 * 86_400e6

/**
 * All conditions except `metric`. `known`: the judgement for marks, the one for exceptions (which may be further behind; absent = unknown), and the
 * time before which ended episodes do not matter.
 */
export function judgeMarks(
  watch: WatchView,
  series: Iterable<Series>,
  known: { readonly marks: Judgement; readonly exceptions: Judgement | undefined; readonly floorUs: number },
): Instance[] {
  const { rules } = watch
  const own = [...series].filter((it) => rules.matches(it.process) && (watch.meta === null || it.meta === watch.meta))
  const instances = rules.late === undefined ? [] : judgeSilence(watch, rules.late, own, known)
  if (rules.longUs === undefined && rules.slow === undefined && rules.failed === undefined) return instances
  const judgement = rules.failed?.exceptions === true ? known.exceptions : known.marks
  for (const it of own) {
    const { process, meta } = it
    const subject = { process, meta: meta === '' ? null : meta }
    const { knownUs, maxRunUs } = known.marks
    const runs = findRuns(it.marks, knownUs, maxRunUs)
    if (rules.longUs !== undefined) {
      for (const episode of judgeLong(rules.longUs, runs, known.marks)) {
        const key = keyOf('long', process, meta, episode.uid, episode.startedUs)
        instances.push({ key, condition: 'long', ...subject, episodes: [episode] })
      }
    }
    if (rules.slow !== undefined) {
      const episodes = judgeSlow(rules.slow, runs, known.marks)
      instances.push({ key: keyOf('slow', process, meta), condition: 'slow', ...subject, episodes })
    }
    if (rules.failed !== undefined && judgement !== undefined) {
      const then = judgement.knownUs < knownUs ? findRuns(it.marks, judgement.knownUs, maxRunUs) : runs
      const episodes = judgeFailed(rules.failed, then, it.exceptions, judgement)
      instances.push({ key: keyOf('failed', process, meta), condition: 'failed', ...subject, episodes })
    }
  }
  return instances
}

/** `late` judges a process as a whole unless the watch names a meta. */
function judgeSilence(
  watch: WatchView,
  rule: LateRule,
  own: readonly Series[],
  { marks: judgement, floorUs }: { readonly marks: Judgement; readonly floorUs: number },
): Instance[] {
  const subjects = Map.groupBy(own, ({ process }) => process)
  if (!watch.isPattern && !subjects.has(watch.process)) subjects.set(watch.process, [])
  return [...subjects].flatMap(([process, list]): Instance[] => {
    const lastUs = Math.max(...list.map((it) => it.lastUs))
    if (watch.isPattern && lastUs < judgement.knownUs - SEEN_WITHIN_US) return []
    const completeFromUs = Math.max(0, ...list.map((it) => it.completeFromUs))
    const starts = list.flatMap(({ marks }) => marks.filter(({ mark }) => mark === 'start').map(({ atUs }) => atUs))
    const newestUs = Math.max(...list.map((it) => it.newestStartUs))
    const complete = starts.filter((us) => us >= completeFromUs)
    const known = [...new Set([newestUs, ...complete].filter(Number.isFinite))].sort((a, b) => a - b)
    // Silence that ended before `floorUs` is not judged: cron expressions are costly.
    const first = known.findLastIndex((us) => us < Math.min(floorUs, judgement.knownUs))
    // Unknown starts may lie before the first complete one, and before `completeFromUs`.
    const fromUs = judgement.sinceUs < completeFromUs ? (complete[0] ?? completeFromUs) : completeFromUs
    const episodes = judgeLate(rule, known.slice(Math.max(0, first)), judgement).filter(
      ({ untilUs = Number.POSITIVE_INFINITY }) => untilUs > fromUs,
    )
    return [{ key: keyOf('late', process), condition: 'late', process, meta: watch.meta, episodes }]
  })
}

export const keyOf = (...parts: readonly (string | number | undefined)[]): string => JSON.stringify(parts)
