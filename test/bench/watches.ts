// Watches: a simulated month of 200 jobs with incidents and outages of the store, Stint and the receiver.
//   bun run bench watches [days] [jobs] [step in seconds]
import { inMemoryDir } from '../support/temp-dir.ts'
import { openStore } from '../watch/watch-cast.ts'
import { runWorld } from './watches-world.ts'

const [days = 30, jobs = 200, stepS = 15] = process.argv.slice(2).map(Number)

const { falseAlerts, missed, delaysS, ...report } = await runWorld({
  days,
  jobs,
  stepUs: stepS * 1e6,
  seed: 1,
  openStore: () => openStore(inMemoryDir()),
})
const sorted = delaysS.toSorted((a, b) => a - b)
const quantile = (q: number) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
const figures = {
  false: falseAlerts.length,
  missed: missed.length,
  ...report,
  p50S: quantile(0.5),
  p99S: quantile(0.99),
}
process.stdout.write(
  `${JSON.stringify(figures, null, 2)}\n${[...falseAlerts.slice(0, 40), ...missed.slice(0, 40)].join('\n')}\n`,
)
