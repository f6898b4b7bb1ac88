// Stint with a look at its event loop, for neighbours.ts: appends the longest turn of each tenth of a second to TURNS_FILE, as the
// processor time of the loop's thread alone. Other processes and the engine's threads do not lengthen it.
import { dlopen } from 'bun:ffi'
import { appendFileSync } from 'node:fs'

const EVERY_MS = 100
/** Linux's clock of the thread; `process.threadCpuUsage()` moves in ticks of up to 4 ms. */
const CLOCK_THREAD_CPUTIME_ID = 3

const { clock_gettime } = dlopen('libc.so.6', { clock_gettime: { args: ['i32', 'ptr'], returns: 'i32' } }).symbols
const time = new BigInt64Array(2)
const usedMs = () => {
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
  return Number(time[0]) * 1e3 + Number(time[1]) / 1e6
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
