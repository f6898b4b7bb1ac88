// The rule of `metric` in numbers.

export interface MetricRule {
  readonly name: string
  readonly windowUs: number
  readonly of: 'last' | 'min' | 'max' | 'mean'
  readonly side: 'above' | 'below'
  readonly than: number
  /** Fires once the figure has been across the number for this long; 0 = at once. */
  readonly forUs: number
}

export const crosses = ({ side, than }: MetricRule, value: number): boolean =>
  side === 'above' ? value > than : value < than
