// The order of the metrics of two runs: those that differ most first. Pure.

/** Null: that run sent none. */
interface Values {
  readonly name: string
  readonly value: number | null
  readonly good_value: number | null
}

/** Another sign and zero first, then the greatest ratio, up or down; equal values, then those of one run alone. */
export function byDifference(a: Values, b: Values): number {
  const [one, other] = [differenceOf(a), differenceOf(b)]
  if (one === other) return a.name < b.name ? -1 : 1
  return other - one
}

function differenceOf({ value, good_value: good }: Values): number {
  if (value === null || good === null) return -1
  if (value === good) return 0
  const ratio = value / good
  return ratio > 0 ? Math.min(Math.abs(Math.log(ratio)), Number.MAX_VALUE) : Number.MAX_VALUE
}
