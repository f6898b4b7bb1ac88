// Stint with a look at its event loop, for neighbours.ts: appends the longest turn of each tenth of a second to TURNS_FILE, as the
// processor time of the loop's thread alone. Other processes and the engine's threads do not lengthen it.
import { appendFileSync } from 'node:fs'

const EVERY_MS = 100

const usedMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
let [last, longest] = [usedMs(), 0]
const look = () => {
  const now = usedMs()
  longest = Math.max(longest, now - last)
  last = now
  setTimeout(look, 1)
}
look()
setInterval(() => {
  appendFileSync(process.env.TURNS_FILE!, `${longest.toFixed(1)}\n`)
  longest = 0
}, EVERY_MS)
await import('../../src/main.ts')
