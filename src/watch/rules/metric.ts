// `metric`: a figure over the window that ends now is above or below a number. No points in it: nothing changes.

export interface MetricRule {
  readonly name: string
  readonly windowUs: number
  readonly of: 'last' | 'min' | 'max' | 'mean'
  readonly side: 'above' | 'below'
  readonly than: number
  /** Fires once the figure has been across the number for this long; 0 = at once. */
  readonly forUs: number
}

export interface MetricState {
  /** Since when the figure has been across the number. */
  readonly crossedUs?: number
  readonly firingUs?: number
  /** The last figure. */
  readonly value?: number
}

export const crosses = ({ side, than }: MetricRule, value: number): boolean =>
  side === 'above' ? value > than : value < than

/** The state after an evaluation at `nowUs` that saw `value`; undefined = no points. */
export function stepMetric(
  rule: MetricRule,
  state: MetricState,
  value: number | undefined,
  nowUs: number,
): MetricState {
  const isAcross = value === undefined ? state.crossedUs !== undefined : crosses(rule, value)
  const figure = value ?? state.value
  const seen = figure === undefined ? {} : { value: figure }
  if (!isAcross) return seen
  const crossedUs = state.crossedUs ?? nowUs
  const firingUs = state.firingUs ?? (nowUs - crossedUs >= rule.forUs ? nowUs : undefined)
  return { ...seen, crossedUs, ...(firingUs !== undefined && { firingUs }) }
}
