// Which processes and metas there are to choose from, for the filters.
import type { ProcessEntry } from './answers.ts'
import type { Api } from './api.ts'
import type { Option } from './choice.ts'

const ALL = 1_000

/** Of the last 30 days, by name. Throws ApiError. */
export async function askProcesses(api: Api, signal?: AbortSignal): Promise<ProcessEntry[]> {
  const { processes } = await api.get<{ processes: ProcessEntry[] }>(
    'api/processes',
    { from: '-30d', limit: ALL },
    signal,
  )
  return processes.toSorted((a, b) => a.process.localeCompare(b.process))
}

/** `undefined` stands for any; one that is chosen is among them even when nothing came from it. */
export function processOptions(
  processes: readonly ProcessEntry[],
  chosen: string | undefined,
  any = 'All processes',
): Option<string | undefined>[] {
  const names = processes.map(({ process }) => process)
  if (chosen !== undefined && !names.includes(chosen)) names.push(chosen)
  return [{ value: undefined, label: any }, ...names.map((name) => ({ value: name, label: name }))]
}

/** `''` stands for none, as in the API. */
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
