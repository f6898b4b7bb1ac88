// A naive reference for the API's answers: plain loops over all events, written from the README's rules and sharing no
// code with `src/query` and `src/store`. Times are numbers of µs.
import type { Event } from '../../src/event/event.ts'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { timeUs } from '../../src/event/stamp.ts'
import { type Group, iso, type Kind, TEXTS } from './any-question.ts'

export const MAX_RUN_S = 600
const HOUR = 3_600e6
const GRACE = 60e6

interface Timing {
  readonly process: string
  readonly meta: string
  readonly uid: string
  readonly state: 'completed' | 'failed' | 'running' | 'abandoned' | 'orphan'
  readonly first: number
  /** When it ended; of a running one now. */
  readonly last: number
  /** An end without a start. */
  readonly isBare: boolean
}

const by =
  <T>(value: (item: T) => number) =>
  (a: T, b: T) =>
    value(a) - value(b)
const rank = (event: Event) => (event.kind === 'start' ? 0 : event.kind === 'end' && event.failed ? 2 : 1)

function pairAll(events: readonly Event[], nowUs: number): Timing[] {
  const marks = events.filter((event) => event.kind === 'start' || event.kind === 'end')
  const timings: Timing[] = []
  for (const own of Map.groupBy(marks, ({ process, meta, uid }) => JSON.stringify([process, meta, uid])).values()) {
    own.sort((a, b) => timeUs(a.stamp) - timeUs(b.stamp) || rank(a) - rank(b) || a.stamp.us - b.stamp.us)
    const used = new Set<Event>()
    for (const [i, mark] of own.entries()) {
      const { process, meta, uid = '' } = mark
      const [at, next] = [timeUs(mark.stamp), own[i + 1]]
      const add = (state: Timing['state'], last: number, isBare = false) =>
        timings.push({ process, meta, uid, state, first: at, last, isBare })
      if (mark.kind !== 'start') {
        if (!used.has(mark)) add(mark.kind === 'end' && mark.failed ? 'failed' : 'orphan', at, true)
      } else if (next?.kind === 'end' && timeUs(next.stamp) - at <= MAX_RUN_S * 1e6) {
        used.add(next)
        add(next.failed ? 'failed' : 'completed', timeUs(next.stamp))
      } else if (next === undefined && nowUs - at <= MAX_RUN_S * 1e6) add('running', Math.max(at, nowUs))
      else add('abandoned', at)
    }
  }
  return timings
}

function quantile(sorted: readonly number[], q: number): number | null {
  if (sorted.length === 0) return null
  const place = q * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!]
  return low + (high - low) * (place - Math.floor(place))
}

/** Rows of the answer in any order; floats as they come. */
export function expectedRows(
  events: readonly Event[],
  states: readonly Group[],
  nowUs: number,
  kind: Kind,
  search: URLSearchParams,
): object[] {
  const text = (name: string) => search.get(name) ?? undefined
  const time = (name: string, other: number) =>
    search.has(name)
      ? Date.parse(`${search.get(name)!.slice(0, 19)}Z`) * 1000 + Number(search.get(name)!.slice(20, 26))
      : other
  const [from, to] = [time('from', nowUs - HOUR), time('to', nowUs)]
  const processes = search.getAll('process')
  const isSelected = (item: { process: string; meta: string; uid?: string | undefined }) =>
    (processes.length === 0 || processes.includes(item.process)) &&
    (!search.has('meta') || item.meta === text('meta')) &&
    (!search.has('uid') || item.uid === text('uid'))
  const exceptions = events.filter((event) => event.kind === 'exception')
  const print = new Map(TEXTS.map((one) => [one, fingerprint(one)]))
  const keyOf = (process: string, exception: string) => `${print.get(exception)} ${process}`
  const statusOf = (process: string, exception: string) => {
    const state = states.find((one) => `${one.fingerprint} ${one.process}` === keyOf(process, exception))
    if (state === undefined) return 'unresolved'
    const same = exceptions.filter((one) => keyOf(one.process, one.exception) === keyOf(process, exception))
    const isBack = state.status === 'resolved' && same.some(({ stamp }) => stamp.us > state.atUs)
    return isBack ? 'regressed' : state.status
  }
  const isHidden = (process: string, exception: string) =>
    ['resolved', 'ignored'].includes(statusOf(process, exception))
  const orNull = (value: string | undefined) => (value === '' || value === undefined ? null : value)
  const within = (us: number) => us >= from && us < to
  const everyUs = search.has('every')
    ? Number.parseInt(text('every')!, 10) * { s: 1e6, m: 60e6, h: 3600e6 }[text('every')!.at(-1) as 's']!
    : 0
  const bucket = (us: number) => iso(us - (us % everyUs))

  /** Its own events reach a minute behind its end; those without uid lie within it. */
  const belongs = (
    run: Timing,
    event: { process: string; meta: string; uid?: string | undefined; stamp: { us: number } },
  ) => {
    const uid = event.uid ?? ''
    if (run.isBare && (uid === '' || run.process !== event.process || run.meta !== event.meta)) return false
    if (run.isBare) return uid === run.uid && Math.abs(event.stamp.us - run.last) <= GRACE
    if (run.process !== event.process || run.meta !== event.meta || event.stamp.us < run.first) return false
    return uid === '' ? event.stamp.us <= run.last : uid === run.uid && event.stamp.us <= run.last + GRACE
  }

  switch (kind) {
    case 'timings':
      return pairAll(events, nowUs)
        .filter((timing) => isSelected(timing) && timing.first < to && timing.last >= from)
        .map((timing) => {
          const { state, first, last, process, meta, uid } = timing
          const { isBare } = timing
          const isRun = (state === 'completed' || state === 'failed' || state === 'running') && !(isBare && uid === '')
          const hasEnd = (state === 'completed' || state === 'failed') && !isBare
          const found = exceptions.filter((one) => belongs(timing, one) && !isHidden(one.process, one.exception)).length
          const metrics = [...new Set(search.getAll('metric'))].map((name) => {
            const sent = events.filter(
              (one) => one.kind === 'metrics' && belongs(timing, one) && one.items.some(([its]) => its === name),
            )
            const own = sent.filter((one) => one.kind === 'metrics' && one.uid === uid && uid !== '')
            const last = (own.length > 0 ? own : sent.filter((one) => one.kind === 'metrics' && one.uid === undefined))
              .toSorted(by((one) => one.stamp.us))
              .at(-1)
            return [name, isRun && last?.kind === 'metrics' ? last.items.find(([its]) => its === name)![1] : null]
          })
          return {
            ...{ process, meta: orNull(meta), uid: orNull(uid), state },
            started_at: isBare ? null : iso(first),
            ended_at: hasEnd || isBare ? iso(last) : null,
            duration_ms: hasEnd ? (last - first) / 1000 : null,
            exceptions: isRun ? found : null,
            ...(metrics.length > 0 && { metrics: Object.fromEntries(metrics) }),
          }
        })
        .filter(({ state, exceptions: found, duration_ms }) => {
          if (search.has('sort') && duration_ms === null) return false
          if (text('state') !== 'trouble') return !search.has('state') || state === text('state')
          return state === 'failed' || state === 'abandoned' || (found ?? 0) > 0
        })
    case 'summary': {
      const figures = (own: readonly Timing[]) => {
        const ms = own
          .filter(({ state }) => state === 'completed')
          .map(({ first, last }) => (last - first) / 1000)
          .toSorted((a, b) => a - b)
        const count = (state: string) => own.filter((timing) => timing.state === state).length
        const percentiles = text('percentiles')?.split(',')
        return {
          ...{ count: ms.length, mean_ms: ms.length === 0 ? null : ms.reduce((sum, one) => sum + one, 0) / ms.length },
          ...{
            p50_ms: quantile(ms, 0.5),
            p95_ms: quantile(ms, 0.95),
            p99_ms: quantile(ms, 0.99),
            max_ms: ms.at(-1) ?? null,
          },
          ...(percentiles && {
            percentiles: Object.fromEntries(percentiles.map((p) => [p, quantile(ms, Number(p) / 100)])),
          }),
          failed: count('failed'),
          failure_rate: ms.length + count('failed') === 0 ? null : count('failed') / (ms.length + count('failed')),
          ...{ running: count('running'), abandoned: count('abandoned'), orphan: count('orphan') },
        }
      }
      const settled = ({ state, first, last }: Timing) => (state === 'running' ? first : last)
      const rowKey = (timing: Timing) =>
        JSON.stringify({
          process: timing.process,
          ...(search.has('by') && { meta: orNull(timing.meta) }),
          ...(everyUs > 0 && { at: bucket(settled(timing)) }),
        })
      const range = (a: number, b: number) =>
        Map.groupBy(
          pairAll(events, nowUs).filter((one) => isSelected(one) && settled(one) >= a && settled(one) < b),
          rowKey,
        )
      const [now, before] = [
        range(from, to),
        search.has('compare_from') ? range(time('compare_from', 0), from) : undefined,
      ]
      return [...new Set([...now.keys(), ...(before?.keys() ?? [])])].map((key) => ({
        ...JSON.parse(key),
        ...figures(now.get(key) ?? []),
        ...(before && { before: figures(before.get(key) ?? []) }),
      }))
    }
    case 'metrics': {
      const points = events.flatMap((event) =>
        event.kind === 'metrics' && isSelected(event) && within(event.stamp.us)
          ? event.items
              .filter(([name]) => !search.has('name') || name === text('name'))
              .map(([name, value]) => ({ event, name, value }))
          : [],
      )
      if (everyUs === 0)
        return points.map(({ event, name, value }) => ({
          ...{
            at: iso(event.stamp.us),
            process: event.process,
            meta: orNull(event.meta),
            uid: orNull(event.uid),
            name,
            value,
          },
        }))
      const rowKey = ({ event, name }: (typeof points)[number]) =>
        JSON.stringify({
          at: bucket(event.stamp.us),
          process: event.process,
          ...(search.has('by') && { meta: orNull(event.meta) }),
          name,
        })
      return [...Map.groupBy(points, rowKey)].map(([key, own]) => {
        const values = own.map(({ value }) => value)
        const sum = values.reduce((all, value) => all + value, 0)
        const last = own.toSorted(by(({ event }) => event.stamp.us)).at(-1)!.value
        return {
          ...JSON.parse(key),
          count: own.length,
          mean: sum / own.length,
          min: Math.min(...values),
          max: Math.max(...values),
          sum,
          last,
        }
      })
    }
    case 'exceptions':
    case 'groups': {
      const chosen = exceptions.filter(
        (one) =>
          (kind === 'groups' ? processes.length === 0 || processes.includes(one.process) : isSelected(one)) &&
          within(one.stamp.us) &&
          (!search.has('fingerprint') || print.get(one.exception) === text('fingerprint')) &&
          (text('text') ?? '').split(' ').every((word) => one.exception.toLowerCase().includes(word.toLowerCase())),
      )
      if (kind === 'exceptions')
        return chosen.map(({ process, meta, uid, exception, stamp }) => ({
          ...{ at: iso(stamp.us), process, meta: orNull(meta), ...(uid !== undefined && { uid }) },
          ...{ exception, fingerprint: print.get(exception) },
        }))
      const wanted = text('status') ?? (search.has('fingerprint') ? 'all' : 'unresolved')
      return [...Map.groupBy(chosen, (one) => keyOf(one.process, one.exception)).values()].flatMap((own) => {
        const { process, exception } = own[0]!
        const status = statusOf(process, exception)
        const isWanted = wanted === 'all' || status === wanted || (wanted === 'unresolved' && status === 'regressed')
        const ever = exceptions
          .filter((one) => keyOf(one.process, one.exception) === keyOf(process, exception))
          .map(({ stamp }) => stamp.us)
        const row = { fingerprint: print.get(exception), process, count: own.length, status }
        return isWanted ? [{ ...row, first_at: iso(Math.min(...ever)), last_at: iso(Math.max(...ever)) }] : []
      })
    }
    case 'processes': {
      const keys = (event: Event) => JSON.stringify([event.process, search.has('by') ? event.meta : ''])
      return [
        ...Map.groupBy(
          events.filter((event) => within(timeUs(event.stamp))),
          keys,
        ).values(),
      ].map((own) => ({
        process: own[0]!.process,
        metas: [...new Set(own.map(({ meta }) => meta))].toSorted().map(orNull),
        last_at: iso(Math.max(...own.map(({ stamp }) => timeUs(stamp)))),
      }))
    }
  }
}
