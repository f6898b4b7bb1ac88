// Histories, judged in one go, with kills between commits, and by the naive reference: the same alerts.
import { expect } from 'bun:test'
import type { Downtime } from '../../../src/watch/log/episode.ts'
import type { Change } from '../../../src/watch/log/judge-interface.ts'
import { createRandom, END_US, type History, makeHistory, type Random, WATCHES } from './histories.ts'
import { type DeskOptions, openDesk } from './judge-kit.ts'
import { judgeNaively } from './naive.ts'

export const MAX_RUN_US = 100 * 3600e6

const optionsOf = (downtimes: readonly Downtime[], maxRunUs: number): DeskOptions => ({
  ...{ maxRunUs, watches: WATCHES, downtimes },
})

/** The watches of `failed`. */
const FAILED = WATCHES.filter(({ rules }) => rules.failed !== undefined).map(({ id }) => id)

const textOf = (change: Change): string => {
  const { watch, identity } = change.alert
  if (change.kind === 'end') return `${watch} ${identity} ends`
  return `${watch} ${identity}${change.kind === 'open' && change.untilUs !== undefined ? ' over' : ''}`
}

function judgeAll({ events, downtimes }: History, maxRunUs = MAX_RUN_US): Change[] {
  const desk = openDesk(optionsOf(downtimes, maxRunUs))
  desk.apply(...events)
  desk.advance(END_US)
  desk.commit()
  return desk.log.filter(({ kind }) => kind !== 'explain')
}

/** With kills before and after commits. */
function judgeKilled({ events, downtimes }: History, random: Random, maxRunUs = MAX_RUN_US): Change[] {
  const desk = openDesk(optionsOf(downtimes, maxRunUs))
  let [seq, stored] = [0, 0]
  for (let isOver = false; !isOver; ) {
    const batch = events.slice(seq, seq + 1 + random.int(5))
    desk.apply(...batch)
    if (batch.length === 0) desk.advance(END_US)
    if (random.next() < 0.3) {
      desk.kill()
      seq = stored
      continue
    }
    seq += batch.length
    if (random.next() < 0.5 || desk.pending().length > 0 || batch.length === 0) {
      desk.commit()
      stored = seq
      if (random.next() < 0.3) desk.kill()
    }
    isOver = batch.length === 0
  }
  return desk.log.filter(({ kind }) => kind !== 'explain')
}

/** The runs that the alerts of `long` are about. */
const longRuns = (changes: readonly Change[]): string[] =>
  changes.flatMap(({ kind, alert: { condition, episode } }) => {
    if (kind !== 'open' || condition !== 'long') return []
    const runs = episode.runs ?? [{ uid: episode.uid, startedUs: episode.startedUs }]
    return runs.map(({ uid, startedUs }) => `${uid} ${startedUs}`)
  })

/** `maxRuns`: one of them is drawn for each history; a short one abandons runs. */
export function expectKillsChangeNothing(seeds: readonly number[], maxRuns = [MAX_RUN_US]): void {
  for (const seed of seeds) {
    const random = createRandom(seed)
    const history = makeHistory(random, seed % 2 === 0)
    const maxRunUs = random.pick(maxRuns)
    const killed = judgeKilled(history, random, maxRunUs).map(textOf).sort()
    expect({ seed, alerts: killed }).toEqual({ seed, alerts: judgeAll(history, maxRunUs).map(textOf).sort() })
  }
}

export function expectNaiveAlerts(seeds: readonly number[]): void {
  for (const seed of seeds) {
    const history = makeHistory(createRandom(seed))
    const changes = judgeAll(history)
    const texts = changes.map(textOf)
    const { late, long, failed } = judgeNaively(history, MAX_RUN_US)
    expect({
      ...{ seed, late: texts.filter((it) => /^(every|cron)/.test(it)).sort(), long: longRuns(changes).sort() },
      failed: FAILED.map((id) => texts.filter((it) => it.startsWith(`${id} `))),
    }).toEqual({ seed, late: late.sort(), long: long.sort(), failed })
  }
}
