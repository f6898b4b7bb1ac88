// The ranges of the page of a process; the address holds the one that is chosen.
export interface Range {
  readonly from: string
  readonly label: string
  /** Length of a bucket. */
  readonly every: string
}

export const RANGES = [
  { from: '-24h', label: '24 h', every: '30m' },
  { from: '-7d', label: '7 days', every: '3h' },
  { from: '-30d', label: '30 days', every: '12h' },
  { from: '-90d', label: '90 days', every: '1d' },
] as const satisfies readonly Range[]

const USUAL: Range = RANGES[1]

export const rangeOf = (params: URLSearchParams): Range =>
  RANGES.find(({ from }) => from === params.get('from')) ?? USUAL
