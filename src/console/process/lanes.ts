// The metas of a process as pictures draw them: the colour of a meta stays the same, whichever is chosen.
import type { OverviewProcess } from '../../wire/overview.ts'
import { metaLabel } from '../kit/ask-processes.ts'

const COLOURS = 6

export interface Lane {
  readonly meta: string | null
  readonly colour: string
  readonly change: OverviewProcess['change']
}

/** The chosen one ('' = without meta), or as many as have a colour of their own; at least one. */
export function lanesOf(
  { by_meta: metas = [], change }: Pick<OverviewProcess, 'by_meta' | 'change'>,
  chosen: string | undefined,
): Lane[] {
  const sorted = metas.toSorted((a, b) => metaLabel(a.meta).localeCompare(metaLabel(b.meta)))
  const lanes = sorted.map(({ meta, change }, i): Lane => ({ meta, change, colour: colourOf(i) }))
  const shown = chosen === undefined ? lanes.slice(0, COLOURS) : lanes.filter(({ meta }) => (meta ?? '') === chosen)
  return shown.length > 0 ? shown : [{ meta: null, change, colour: colourOf(0) }]
}

const colourOf = (place: number): string => (place < COLOURS ? `var(--series-${place + 1})` : 'var(--accent)')
