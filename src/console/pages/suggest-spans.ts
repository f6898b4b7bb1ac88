// Suggests values for a new watch from the history of its process.
import type { Timing, TimingPage } from '../../wire/timings.ts'
import { parseTime } from '../kit/format-time.ts'
import type { App } from '../kit/page.ts'

const SPANS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 172_800, 604_800]

/**
 * Fills in the usual time between starts, rounded up to a common span, and twice the longest run, and checks both
 * conditions. Without history the fields stay empty.
 */
export async function suggestSpans(
  app: App,
  process: string,
  every: HTMLInputElement,
  long: HTMLInputElement,
): Promise<void> {
  if (process === '' || process.includes('*')) return
  const query = { process, from: '-14d', limit: 100 }
  const { timings } = await app.api.get<TimingPage>('api/timings', query).catch(() => ({ timings: [] as Timing[] }))
  const starts = timings
    .flatMap(({ started_at }) => (started_at === null ? [] : [parseTime(started_at) / 1000]))
    .sort((a, b) => a - b)
  const gaps = starts
    .slice(1)
    .map((at, i) => at - starts[i]!)
    .sort((a, b) => a - b)
  const usual = gaps[Math.floor(gaps.length / 2)]
  const longest = Math.max(0, ...timings.map(({ duration_ms }) => (duration_ms ?? 0) / 1000))
  const fillIn = (input: HTMLInputElement, seconds: number) => {
    if (input.value !== '') return
    input.value = toSpan(seconds)
    const box = input.closest('fieldset')?.querySelector<HTMLInputElement>('legend input')
    if (box?.checked === false) box.click()
  }
  if (usual !== undefined) fillIn(every, usual * 0.95)
  if (longest > 0) fillIn(long, longest * 2)
}

function toSpan(seconds: number): string {
  const span = SPANS.find((it) => it >= seconds) ?? Math.ceil(seconds / 86_400) * 86_400
  if (span % 86_400 === 0) return `${span / 86_400}d`
  return span % 3600 === 0 ? `${span / 3600}h` : `${span / 60}m`
}
