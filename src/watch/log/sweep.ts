// What nothing arrives for: alerts expire, and series are forgotten, after 30 days or twice the interval.
import { removeTrack, tracksOf } from './accounts.ts'
import { type Desk, factsOf, nameOfSubject, nameOfTrack } from './desk.ts'
import { type JudgedAlert, type JudgedWatch, MAX_SERIES } from './judge-interface.ts'
import { type Account, nameOf, type Track } from './subjects.ts'

const SILENT_US = 30 * 86_400e6

export function sweep(desk: Desk, account: Account, nowUs: number): void {
  const busy = new Set<string>()
  for (const watch of account.watches)
    for (const alert of [...desk.firing.of(watch.id)]) {
      if (nowUs - lastEventUs(account, watch, alert) <= silenceOf(watch, alert)) busy.add(alert.process)
      else {
        if (alert.condition === 'long')
          account.tracks
            .get(alert.process)
            ?.get(alert.meta ?? '')
            ?.longs.delete(nameOf(watch.id, alert.instance))
        desk.firing.end(account.name, alert, factsOf(account, alert.process, alert.meta), {
          atUs: nowUs,
          endedBy: 'expired',
        })
      }
    }
  for (const track of tracksOf(account)) {
    const { series, process, meta, isKept } = track
    if (!isKept || busy.has(process) || series.open.size > 0) continue
    if (nowUs - series.lastUs <= Math.max(SILENT_US, ...track.watches.map((it) => 2 * intervalOf(it, nowUs)))) continue
    removeTrack(account, track)
    desk.dropRow(account, nameOfTrack(process, meta))
    leaveLate(desk, account, track)
  }
  for (const [name, subject] of account.metrics) {
    const { watch, process, gauge } = subject
    if (busy.has(process) || nowUs - gauge.lastUs <= SILENT_US) continue
    subject.isGone = true
    account.metrics.delete(name)
    desk.dropRow(account, nameOfSubject('metric', watch.id, process))
  }
  if (account.kept < MAX_SERIES && account.metrics.size < MAX_SERIES) account.dropped.clear()
}

/** A subject that no series is left of; that of an exact name is kept with its watch. */
function leaveLate(desk: Desk, account: Account, { process, late }: Track): void {
  if (account.tracks.has(process)) return
  for (const subject of late) {
    if (subject.watch.process === process) {
      subject.isKept = true
      desk.touchLate(subject)
    } else {
      subject.isGone = true
      account.late.delete(nameOf(subject.watch.id, process))
    }
  }
}

function intervalOf({ rules }: JudgedWatch, nowUs: number): number {
  const { late } = rules
  if (late === undefined) return 0
  return 'everyUs' in late ? late.everyUs : (late.schedule.nextUs(nowUs) ?? nowUs) - nowUs
}

const silenceOf = (watch: JudgedWatch, { condition, episode }: JudgedAlert): number =>
  Math.max(SILENT_US, condition === 'late' ? 2 * intervalOf(watch, episode.sinceUs) : 0)

/** When the last event arrived that its condition reads. */
function lastEventUs(account: Account, watch: JudgedWatch, { condition, process, meta, episode }: JudgedAlert): number {
  const metas = account.tracks.get(process)
  switch (condition) {
    case 'late': {
      const own = [...(metas?.values() ?? [])].filter((it) => it.watches.includes(watch))
      return Math.max(episode.sinceUs, ...own.map(({ series }) => series.lastUs))
    }
    case 'metric':
      return Math.max(episode.sinceUs, account.metrics.get(nameOf(watch.id, process))?.gauge.lastUs ?? 0)
    case 'long':
      return episode.sinceUs
    default:
      return Math.max(episode.sinceUs, metas?.get(meta ?? '')?.series.lastUs ?? 0)
  }
}
