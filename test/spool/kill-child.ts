// The process that kill.test.ts kills: appends from eight sides, delivers beside it, and tells what it has been promised, line by line,
// with one write each, so that nothing of it stays behind in this process. Ends when its stdin does.
import { writeSync } from 'node:fs'
import { openSpool } from '../../src/spool/open-spool.ts'
import { createLogLines } from './spool-trial.ts'

const [dir, first] = [process.argv[2]!, Number(process.argv[3])]
const tell = (line: string) => writeSync(1, `${line}\n`)
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume()

tell('opening')
const { log } = createLogLines()
const spool = await openSpool({ dir, maxBytes: 2 ** 30, minFreeBytes: 0, segmentBytes: 64 * 1024, log })
tell(`opened ${spool.floorUs}`)

let next = first
async function append(): Promise<void> {
  for (;;) {
    const n = next++
    await spool.append(`${n} ${'x'.repeat(n % 300)}`, 1_000_000 + n)
    tell(`acknowledged ${n}`)
  }
}

async function deliver(): Promise<void> {
  const never = new AbortController().signal
  for (;;) {
    await spool.waitForRecords(never)
    const batch = await spool.read(50, 1 << 20)
    tell(`delivered ${batch.records.map((record) => Number.parseInt(record, 10)).join(' ')}`)
    await spool.advance(batch.next)
    tell('advanced')
  }
}

await Promise.all([...Array.from({ length: 8 }, append), deliver()])
