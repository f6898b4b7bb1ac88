// A histogram for the hot path: an observation is a walk over a few numbers, and Prometheus' own form of it is made at each scrape.
import type { Registry } from 'prom-client'

export interface CheapHistogram {
  observe(value: number): void
}

interface HistogramRow {
  readonly name: string
  readonly help: string
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** Registers a histogram without labels. */
export function createCheapHistogram(registry: Registry, { name, help, buckets }: HistogramRow): CheapHistogram {
  const counts = new Float64Array(buckets.length + 1)
  let sum = 0
  const get = async () => {
    let total = 0
    const values = [...buckets, '+Inf'].map((le, i) => {
      total += counts[i]!
      return { metricName: `${name}_bucket`, labels: { le }, value: total }
    })
    const figures = [
      { metricName: `${name}_sum`, labels: {}, value: sum },
      { metricName: `${name}_count`, labels: {}, value: total },
    ]
    return { name, help, type: 'histogram', aggregator: 'sum', values: [...values, ...figures] }
  }
  registry.registerMetric({ name, help, type: 'histogram', labelNames: [], get } as never)
  return {
    observe(value) {
      let i = 0
      while (i < buckets.length && value > buckets[i]!) i++
      counts[i]!++
      sum += value
    },
  }
}
