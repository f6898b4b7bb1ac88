// Rate limits: a token bucket per name. In memory: a restart refills them.

export interface Rate {
  readonly burst: number
  readonly everyS: number
}

export type Tokens = ReturnType<typeof createTokens>

/** Beyond this number buckets that are full again are dropped. */
const MAX_BUCKETS = 10_000

export function createTokens(nowUs: () => number) {
  const buckets = new Map<string, { tokens: number; atUs: number }>()

  function fill(name: string, { burst, everyS }: Rate) {
    const now = nowUs()
    const bucket = buckets.get(name) ?? { tokens: burst, atUs: now }
    const gained = Math.max(0, now - bucket.atUs) / (everyS * 1e6)
    bucket.tokens = Math.min(burst, bucket.tokens + gained)
    bucket.atUs = now
    buckets.delete(name)
    buckets.set(name, bucket)
    if (buckets.size > MAX_BUCKETS) buckets.delete(buckets.keys().next().value!)
    return bucket
  }

  return {
    /** Takes a token if there is one. */
    take(name: string, rate: Rate): boolean {
      const bucket = fill(name, rate)
      if (bucket.tokens < 1) return false
      bucket.tokens--
      return true
    },
    left: (name: string, rate: Rate): number => Math.floor(fill(name, rate).tokens),
  }
}
