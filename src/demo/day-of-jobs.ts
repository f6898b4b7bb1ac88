// The demo: a believable day of a small company's jobs and the week before it, as events with their own
// times. The same seed, the same week.

/** One event as POST /v1/batch takes it. */
export interface DemoEvent {
  readonly kind: 'start' | 'end' | 'metrics' | 'exception'
  readonly process: string
  readonly meta?: string
  readonly uid?: string
  readonly items?: Readonly<Record<string, number>>
  readonly exception?: string
  readonly failed?: true
  readonly at: string
}

/** One kind of job: how often it begins, how long it takes, how it goes wrong. Times in seconds. */
interface Job {
  readonly process: string
  readonly metas: readonly (string | undefined)[]
  readonly everyS: number
  /** The local hour of the first meta, the next ones follow; absent: any. */
  readonly hour?: number
  /** Typical length; the tail of long runs follows from it. */
  readonly lengthS: number
  /** … in the week before; absent: the same. */
  readonly formerLengthS?: number
  /** The last start is so many seconds before the end: the job falls silent. Absent: it goes on. */
  readonly stopsS?: number
  /** Runs of one meta may overlap and tell themselves apart by uid. */
  readonly overlaps: boolean
  /** Share of the runs that throw, that hang (never end), and whose start got lost. */
  readonly fails: number
  readonly hangs: number
  readonly orphans: number
  readonly throws: readonly string[]
  metrics(random: () => number, lengthS: number): Record<string, number>
}

const DAY_S = 86_400
const WEEK_S = 7 * DAY_S
/** A start is late by up to so much of the interval. */
const SPREAD = 0.3
const BETWEEN_METAS_MIN = 40

const JOBS: readonly Job[] = [
  {
    process: 'nightly import',
    metas: ['region eu', 'region us', 'region apac'],
    everyS: DAY_S,
    hour: 2,
    lengthS: 1500,
    overlaps: false,
    fails: 0.1,
    hangs: 0,
    orphans: 0,
    throws: [
      'Error: connection reset by peer (10.4.2.17:5432)\n    at Client.query (/srv/import/db.ts:84:11)\n' +
        '    at load (/srv/import/load.ts:31:9)',
    ],
    metrics: (random, lengthS) => ({
      rows: Math.round(lengthS * (700 + 200 * random())),
      rejected: Math.floor(random() * 40),
    }),
  },
  {
    process: 'sync inventory',
    metas: [undefined],
    everyS: 300,
    lengthS: 35,
    formerLengthS: 14,
    overlaps: false,
    fails: 0.02,
    hangs: 0.004,
    orphans: 0.004,
    throws: [
      'Traceback (most recent call last):\n  File "/srv/sync/main.py", line 214, in run\n    apply(batch)\n' +
        '  File "/srv/sync/apply.py", line 58, in apply\n    raise StockError(f"sku {sku} is unknown")\n' +
        'sync.errors.StockError: sku 48813 is unknown',
    ],
    metrics: (random) => ({ changed: Math.floor(random() ** 3 * 900), skus: 48_000 + Math.floor(random() * 400) }),
  },
  {
    process: 'resize images',
    metas: ['queue media', 'queue avatars'],
    everyS: 110,
    lengthS: 8,
    overlaps: true,
    fails: 0.03,
    hangs: 0,
    orphans: 0.003,
    throws: [
      'java.lang.OutOfMemoryError: Java heap space\n\tat com.acme.media.Resizer.decode(Resizer.java:131)\n' +
        '\tat com.acme.media.Worker.run(Worker.java:57)',
    ],
    metrics: (random) => ({ images: 1 + Math.floor(random() * 60), megabytes: Math.round(random() * 9000) / 10 }),
  },
  {
    process: 'send invoices',
    metas: ['plan team', 'plan business'],
    everyS: 3600,
    lengthS: 240,
    overlaps: false,
    fails: 0.06,
    hangs: 0,
    orphans: 0,
    throws: [
      'panic: runtime error: index out of range [3] with length 3\n\ngoroutine 42 [running]:\n' +
        'main.render(0xc000124000)\n\t/srv/invoice/render.go:77 +0x1d',
      "TypeError: Cannot read properties of undefined (reading 'vat')\n    at total (/srv/billing/total.js:19:27)",
    ],
    metrics: (random) => ({ invoices: 20 + Math.floor(random() * 300), euros: Math.round(random() * 9_000_000) / 100 }),
  },
  {
    process: 'backup database',
    metas: ['primary'],
    everyS: 7200,
    lengthS: 900,
    overlaps: false,
    fails: 0,
    hangs: 0.08,
    orphans: 0,
    throws: [],
    metrics: (random, lengthS) => ({ gigabytes: Math.round(lengthS * (4 + random())) / 100 }),
  },
  {
    process: 'rotate logs',
    metas: [undefined],
    everyS: 7200,
    stopsS: 5 * 3600,
    lengthS: 40,
    overlaps: false,
    fails: 0,
    hangs: 0,
    orphans: 0,
    throws: [],
    metrics: (random) => ({ files: 4 + Math.floor(random() * 3) }),
  },
  {
    process: 'ci tests',
    metas: ['branch main', 'branch feature'],
    everyS: 900,
    lengthS: 420,
    overlaps: true,
    fails: 0.12,
    hangs: 0,
    orphans: 0,
    throws: [
      'AssertionError: expected 200, got 503\n    at check (/ci/test/checkout.test.ts:48:5)',
      "thread 'main' panicked at src/pricing.rs:212:9:\nattempt to subtract with overflow",
    ],
    metrics: (random) => ({ tests: 1200 + Math.floor(random() * 20), flaky: Math.floor(random() * 4) }),
  },
]

/** Mulberry32: a small generator of numbers in [0, 1) that a seed repeats. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Long tails as real jobs have them: most near the typical length, now and then several times that. */
const drawLengthS = (random: () => number, typicalS: number) =>
  typicalS * Math.exp(0.35 * (random() + random() + random() - 1.5)) * (random() < 0.04 ? 2 + 2 * random() : 1)

/**
 * The events of the day that ends at `endMs` (ms since the epoch), of the week before it and of `aheadMs` after it,
 * oldest first. The last ones end what is running then.
 */
export function playDays(endMs: number, aheadMs = 0, seed = 7): DemoEvent[] {
  const random = createRandom(seed)
  const events: DemoEvent[] = []
  const dayMs = endMs - DAY_S * 1000
  for (const job of JOBS)
    for (const [i, meta] of job.metas.entries()) {
      let freeMs = 0
      const untilMs = job.stopsS === undefined ? endMs + aheadMs : endMs - job.stopsS * 1000
      for (let dueMs = firstDueMs(job, i, dayMs - WEEK_S * 1000, random); dueMs < untilMs; dueMs += job.everyS * 1000) {
        const startMs = Math.max(freeMs, dueMs + random() * SPREAD * Math.min(job.everyS, 3600) * 1000)
        const lengthS = drawLengthS(random, (startMs < dayMs ? job.formerLengthS : undefined) ?? job.lengthS)
        if (!job.overlaps) freeMs = startMs + (lengthS + 5) * 1000
        if (startMs < untilMs) pushRun(events, job, meta, startMs, lengthS, random)
      }
    }
  return events.sort((a, b) => (a.at < b.at ? -1 : 1))
}

function firstDueMs({ hour, everyS }: Job, meta: number, fromMs: number, random: () => number): number {
  if (hour === undefined) return fromMs + random() * everyS * 1000
  const dueMs = new Date(fromMs).setHours(hour, meta * BETWEEN_METAS_MIN, 0, 0)
  return dueMs < fromMs ? dueMs + DAY_S * 1000 : dueMs
}

/** The exception of a failed run of the process. */
export const exceptionOf = (process: string): string =>
  JOBS.find((job) => job.process === process)?.throws.at(-1) ?? 'Error'

function pushRun(
  events: DemoEvent[],
  job: Job,
  meta: string | undefined,
  startMs: number,
  lengthS: number,
  random: () => number,
): void {
  const common = { process: job.process, ...(meta !== undefined && { meta }) }
  const uid = job.overlaps ? { uid: `run-${Math.floor(random() * 2 ** 40).toString(36)}` } : {}
  const stopMs = startMs + lengthS * 1000
  const luck = random()
  if (luck >= job.orphans) events.push({ kind: 'start', ...common, ...uid, at: time(startMs) })
  if (luck > 1 - job.hangs) return
  events.push({ kind: 'metrics', ...common, ...uid, items: job.metrics(random, lengthS), at: time(stopMs - 20) })
  const hasFailed = random() < job.fails
  if (hasFailed) {
    const exception = job.throws[Math.floor(random() * job.throws.length)]!
    events.push({ kind: 'exception', ...common, ...uid, exception, at: time(stopMs - 10) })
  }
  events.push({ kind: 'end', ...common, ...uid, ...(hasFailed && { failed: true }), at: time(stopMs) })
}

const time = (ms: number): string => new Date(ms).toISOString()
