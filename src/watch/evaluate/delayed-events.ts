// Accepted events of the past that may not be stored yet, older than the stretch that every evaluation reads. Each is
// read once, by process and time, when everything accepted before it is stored. A backlog is read when no more of it
// arrives: half of it would show runs without their ends.

export interface DelayedEvent {
  readonly account: string
  /** Absent: any process, at that time or later. */
  readonly process?: string
  /** Absent: it may be one. */
  readonly isException?: boolean
  readonly atUs: number
}

export interface DelayedRange {
  /** undefined = all. */
  readonly processes: readonly string[] | undefined
  /** [fromUs, toUs). */
  readonly fromUs: number
  readonly toUs: number
}

export type DelayedEvents = ReturnType<typeof createDelayedEvents>

export interface AccountDelayed {
  readonly marks: DelayedEvents
  readonly exceptions: DelayedEvents
}

const MAX_PROCESSES = 200
/** Time for a noted request to reach the spool, and for the next one of its backlog to be noted. */
const SETTLES_US = 5e6
/** An endless stream of delayed events is read this often. */
const STREAM_US = 60e6
/** All processes, if there are too many to name; never a process's name. */
const ALL = ''

interface Delayed {
  readonly fromUs: number
  readonly toUs: number
  readonly firstUs: number
  readonly acceptedUs: number
}

export function createDelayedEvents() {
  const delayed = new Map<string, Delayed>()
  let taken: readonly (readonly [string, Delayed])[] = []
  let takenUs = 0
  const isSettled = ({ acceptedUs }: Delayed, knownUs: number) => acceptedUs + SETTLES_US <= knownUs

  const join = (a: Delayed | undefined, b: Delayed): Delayed =>
    a === undefined
      ? b
      : {
          fromUs: Math.min(a.fromUs, b.fromUs),
          toUs: Math.max(a.toUs, b.toUs),
          firstUs: Math.min(a.firstUs, b.firstUs),
          acceptedUs: Math.max(a.acceptedUs, b.acceptedUs),
        }

  return {
    /** Without a process: events of any, at that time or later. */
    note(process: string | undefined, atUs: number, nowUs: number): void {
      const isNamed =
        process !== undefined && !delayed.has(ALL) && (delayed.size < MAX_PROCESSES || delayed.has(process))
      const name = isNamed ? process : ALL
      const toUs = process === undefined ? nowUs : atUs + 1
      const one = { fromUs: atUs, toUs, firstUs: nowUs, acceptedUs: nowUs }
      const range = join(delayed.get(name), one)
      if (name !== ALL || delayed.has(ALL)) return void delayed.set(name, range)
      const whole = [...delayed.values()].reduce(join, range)
      delayed.clear()
      delayed.set(ALL, whole)
    },
    /** The range of all delayed events that are stored by now; everything accepted before `knownUs` is stored. */
    stored(knownUs: number): DelayedRange | undefined {
      taken = [...delayed].filter(([, it]) => isSettled(it, knownUs) || it.firstUs + STREAM_US <= knownUs)
      takenUs = knownUs
      if (taken.length === 0) return undefined
      return {
        processes: taken.some(([name]) => name === ALL) ? undefined : taken.map(([name]) => name),
        fromUs: Math.min(...taken.map(([, { fromUs }]) => fromUs)),
        toUs: Math.max(...taken.map(([, { toUs }]) => toUs)),
      }
    },
    /** Whether a delayed event of the process was accepted less than 5 s before `knownUs` or later: more may arrive. */
    isPending: (process: string, knownUs: number): boolean =>
      [delayed.get(process), delayed.get(ALL)].some((it) => it !== undefined && !isSettled(it, knownUs)),
    /** Nothing waits to be read. */
    isEmpty: (): boolean => delayed.size === 0,
    /** Call it after the range last returned by `stored` was read. */
    settle(): void {
      for (const [name, range] of taken) {
        if (delayed.get(name) !== range) continue
        if (isSettled(range, takenUs)) delayed.delete(name)
        else delayed.set(name, { ...range, firstUs: range.acceptedUs })
      }
      taken = []
    },
  }
}
