// The processes and metas that the filters offer. They change rarely, so all pages share one answer for a minute.
import type { ProcessEntry } from '../../wire/processes.ts'
import { type Api, getPages } from './api.ts'
import type { Option } from './select.tsx'

const FRESH_MS = 60_000

/** Processes of the last 30 days, by name. Throws ApiError. */
export type AskProcesses = (signal?: AbortSignal) => Promise<readonly ProcessEntry[]>

export function createAskProcesses(api: Api, nowMs: () => number): AskProcesses {
  let held: readonly ProcessEntry[] = []
  let heldAtMs = Number.NEGATIVE_INFINITY
  return async (signal) => {
    if (nowMs() - heldAtMs < FRESH_MS) return held
    const { rows } = await getPages(async (page) => {
      const { processes, next } = await api.get('api/processes', { from: '-30d', ...page }, signal)
      return { rows: processes, next }
    })
    held = rows.toSorted((a, b) => a.process.localeCompare(b.process))
    if (held.length > 0) heldAtMs = nowMs() // an empty list is not cached: the first process must appear at once
    return held
  }
}

/** `undefined` means any. The chosen process is always listed, even if it sent nothing. */
export function processOptions(
  processes: readonly ProcessEntry[],
  chosen: string | undefined,
  any = 'All processes',
): Option<string | undefined>[] {
  const names = processes.map(({ process }) => process)
  if (chosen !== undefined && !names.includes(chosen)) names.push(chosen)
  return [{ value: undefined, label: any }, ...names.map((name) => ({ value: name, label: name }))]
}

/** `''` means without meta, as in the API. */
export function metaOptions(
  processes: readonly ProcessEntry[],
  process: string | undefined,
  chosen: string | undefined,
): Option<string | undefined>[] {
  const of = processes.filter((entry) => process === undefined || entry.process === process)
  const metas = new Set(of.flatMap(({ metas }) => metas.map((meta) => meta ?? '')))
  if (chosen !== undefined) metas.add(chosen)
  const sorted = [...metas].toSorted((a, b) => a.localeCompare(b))
  return [{ value: undefined, label: 'Any meta' }, ...sorted.map((meta) => ({ value: meta, label: metaLabel(meta) }))]
}

export const metaLabel = (meta: string | null): string => (meta === null || meta === '' ? '(without meta)' : meta)
