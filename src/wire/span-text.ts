// Spans of time as flags and forms have them.
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `0`, `90s`, `30m`, `24h`, `7d`; a number alone is seconds. Undefined for anything else. */
export function parseSpanS(text: string): number | undefined {
  const [, count, unit = 's'] = /^(\d+)([smhd])?$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNIT_S[unit]!
}

/** `90m`, `2h`, `1d`: whole units of the greatest that fits. Takes whole seconds. */
export function formatSpanS(seconds: number): string {
  const unit = (['d', 'h', 'm'] as const).find((it) => seconds % UNIT_S[it]! === 0) ?? 's'
  return `${seconds / UNIT_S[unit]!}${unit}`
}
