// Remembers per account what was accepted and may be new in the stores. Called for every event: two look-ups.
import type { Hints } from './account-history.ts'
import type { Moment } from './moment.ts'

export interface EventHint {
  readonly account: string
  /** Absent: any process, any kind. */
  readonly process?: string
  readonly kind?: 'mark' | 'exception' | 'metrics'
}

/** The times at which the first and the last event were accepted. */
interface Stretch {
  readonly firstUs: number
  lastUs: number
}

/** The hints of an account that are not read yet. */
const createPage = () => ({
  marks: new Map<string, Stretch>(),
  exceptions: undefined as Stretch | undefined,
  metricUs: undefined as number | undefined,
  /** A process of unknown name: everything is read. */
  wholeUs: undefined as number | undefined,
  /** Something is new since the last evaluation. */
  isOpen: false,
})

/** Beyond this many processes of an account all are read. */
const MAX_PROCESSES = 500
const MAX_ACCOUNTS = 100_000

function extend(known: Stretch | undefined, nowUs: number): Stretch {
  if (known === undefined) return { firstUs: nowUs, lastUs: nowUs }
  known.lastUs = nowUs
  return known
}

export function createHintBook() {
  const pages = new Map<string, ReturnType<typeof createPage>>()
  const touched = new Set<string>()

  function pageOf(account: string) {
    const known = pages.get(account)
    if (known !== undefined) return known
    const page = createPage()
    if (pages.size < MAX_ACCOUNTS) pages.set(account, page)
    return page
  }

  return {
    note({ account, process, kind }: EventHint, nowUs: number): void {
      const page = pageOf(account)
      if (!page.isOpen) touched.add(account)
      page.isOpen = true
      if (kind === 'metrics' || kind === undefined) page.metricUs = nowUs
      if (kind === 'metrics') return
      if (process === undefined || page.marks.size >= MAX_PROCESSES) page.wholeUs = nowUs
      else if (kind === 'exception') page.exceptions = extend(page.exceptions, nowUs)
      else page.marks.set(process, extend(page.marks.get(process), nowUs))
    },
    /** Makes the account due without naming an event. */
    touch(account: string): void {
      pageOf(account).isOpen = true
      touched.add(account)
    },
    /** Accounts with a first hint since the last call. */
    fresh(): string[] {
      const fresh = [...touched]
      touched.clear()
      return fresh
    },
    take(account: string, isSweep: boolean): Hints {
      const page = pageOf(account)
      const marks = new Map([...page.marks].map(([process, { firstUs }]) => [process, firstUs]))
      return { isSweep: isSweep || page.wholeUs !== undefined, marks, exceptionUs: page.exceptions?.firstUs }
    },
    /** Forgets what was read: everything that was accepted before the known time. */
    settle(account: string, { isSweep }: Hints, { pointsKnownUs, exceptionsKnownUs }: Moment): void {
      const page = pageOf(account)
      for (const [process, { lastUs }] of page.marks) if (lastUs < pointsKnownUs) page.marks.delete(process)
      if (page.exceptions !== undefined && page.exceptions.lastUs < exceptionsKnownUs) page.exceptions = undefined
      const knownUs = Math.min(pointsKnownUs, exceptionsKnownUs)
      if (isSweep && page.wholeUs !== undefined && page.wholeUs < knownUs) page.wholeUs = undefined
      page.isOpen = page.marks.size > 0 || page.exceptions !== undefined || page.wholeUs !== undefined
    },
    isOpen: (account: string): boolean => pages.get(account)?.isOpen === true,
    /** When the last metric arrived; `since` if none did since the first call. */
    lastMetricUs(account: string, since: number): number {
      const page = pageOf(account)
      page.metricUs ??= since
      return page.metricUs
    },
    forget(account: string): void {
      pages.delete(account)
      touched.delete(account)
    },
  }
}
