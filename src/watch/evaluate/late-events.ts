// Accepted events of the past that may not be stored yet, older than the stretch that every evaluation reads. Each is
// read once, by process and time, when everything accepted before it is stored. A backlog is read when no more of it
// arrives: half of it would show runs without their ends.

export interface LateEvent {
  readonly account: string
  /** Absent: any process, at that time or later. */
  readonly process?: string
  /** Absent: it may be one. */
  readonly isException?: boolean
  readonly atUs: number
}

export interface LateRange {
  /** undefined = all. */
  readonly processes: readonly string[] | undefined
  /** [fromUs, toUs). */
  readonly fromUs: number
  readonly toUs: number
}

export type LateEvents = ReturnType<typeof createLateEvents>

export interface LateOnes {
  readonly marks: LateEvents
  readonly exceptions: LateEvents
}

const MAX_PROCESSES = 200
/** Time for a noted request to reach the spool, and for the next one of its backlog to be noted. */
const SETTLES_US = 5e6
/** An endless stream of late events is read this often. */
const STREAM_US = 60e6
/** All processes, if there are too many to name; never a process's name. */
const ALL = ''

interface Late {
  readonly fromUs: number
  readonly toUs: number
  readonly firstUs: number
  readonly acceptedUs: number
}

export function createLateEvents() {
  const late = new Map<string, Late>()
  let taken: readonly (readonly [string, Late])[] = []
  let takenUs = 0
  const isSettled = ({ acceptedUs }: Late, knownUs: number) => acceptedUs + SETTLES_US <= knownUs

  const join = (a: Late | undefined, b: Late): Late =>
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
      const isNamed = process !== undefined && !late.has(ALL) && (late.size < MAX_PROCESSES || late.has(process))
      const name = isNamed ? process : ALL
      const toUs = process === undefined ? nowUs : atUs + 1
      const one = { fromUs: atUs, toUs, firstUs: nowUs, acceptedUs: nowUs }
      const range = join(late.get(name), one)
      if (name !== ALL || late.has(ALL)) return void late.set(name, range)
      const whole = [...late.values()].reduce(join, range)
      late.clear()
      late.set(ALL, whole)
    },
    /** The range of all late events that are stored by now; everything accepted before `knownUs` is stored. */
    stored(knownUs: number): LateRange | undefined {
      taken = [...late].filter(([, it]) => isSettled(it, knownUs) || it.firstUs + STREAM_US <= knownUs)
      takenUs = knownUs
      if (taken.length === 0) return undefined
      return {
        processes: taken.some(([name]) => name === ALL) ? undefined : taken.map(([name]) => name),
        fromUs: Math.min(...taken.map(([, { fromUs }]) => fromUs)),
        toUs: Math.max(...taken.map(([, { toUs }]) => toUs)),
      }
    },
    /** Whether a late event of the process was accepted less than 5 s before `knownUs` or later: more may arrive. */
    isPending: (process: string, knownUs: number): boolean =>
      [late.get(process), late.get(ALL)].some((it) => it !== undefined && !isSettled(it, knownUs)),
    /** Nothing waits to be read. */
    isEmpty: (): boolean => late.size === 0,
    /** Call it after the range last returned by `stored` was read. */
    settle(): void {
      for (const [name, range] of taken) {
        if (late.get(name) !== range) continue
        if (isSettled(range, takenUs)) late.delete(name)
        else late.set(name, { ...range, firstUs: range.acceptedUs })
      }
      taken = []
    },
  }
}
