// The newest run with a uid, looked for further and further back, as far as one question may read.
import { toRun } from '../timeline/run.ts'
import { ApiError } from './api.ts'
import type { Get } from './ask.ts'
import { formatFullDay } from './format-time.ts'
import { linkToRun } from './run-links.ts'
import { everyMs } from './time-range.ts'

/** Most uids that people look for are recent, and a short question costs little. */
const AGO = ['7d', '90d', '3650d'] as const

interface FoundUid {
  /** To the newest run; undefined: none was found. */
  readonly href: string | undefined
  /** `No run with this uid since 29 Oct 2026.` */
  readonly text: string
}

/** Throws ApiError, if not even the shortest question is answered. */
export async function findUid(get: Get, uid: string, nowMs: number, signal?: AbortSignal): Promise<FoundUid> {
  let sinceMs: number | undefined
  for (const ago of AGO) {
    try {
      const { timings } = await get('api/timings', { uid, from: `-${ago}`, limit: 1 }, signal)
      if (timings[0] !== undefined) return { href: linkToRun(toRun(timings[0]), nowMs), text: '' }
      sinceMs = nowMs - everyMs(ago)
    } catch (error) {
      const isTooFar = error instanceof ApiError && error.code === 'question_too_large' && sinceMs !== undefined
      if (!isTooFar) throw error
      return { href: undefined, text: `${missing(sinceMs!)} Further back is too much to read at once.` }
    }
  }
  return { href: undefined, text: missing(sinceMs!) }
}

const missing = (sinceMs: number): string => `No run with this uid since ${formatFullDay(sinceMs)}.`
