// Files of version 1.1, a JSON line for each event with the address that it is for. They are rewritten in today's
// format, and sent with the others. To be removed in 2.1.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Backlog } from '../../client/backlog.ts'
import { BATCH_CHARACTERS, BATCH_EVENTS } from '../../client/batch.ts'
import { systemClock } from '../../clock.ts'

/** The number is the length of a file that is complete. */
const NAME = /^pending-(?:metrics-)?\d{17}-[0-9a-f]{8}-(\d+)-[0-9a-f-]+\.jsonl$/
/** A process of 1.1 may still write to a file that is younger. */
const ABANDONED_AFTER_MS = 60_000

/** `url`: only files for this address. Returns how many lines are not events. */
export function takeOldFiles(dir: string, url: string | undefined, backlog: Backlog): number {
  let unreadable = 0
  for (const file of filesIn(dir)) {
    const path = join(dir, file)
    const { size, mtimeMs } = statSync(path)
    const isWhole = size >= Number(NAME.exec(file)![1])
    if (!isWhole && systemClock.wallUs() / 1000 - mtimeMs < ABANDONED_AFTER_MS) continue
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(parseLine)
    const found = lines.filter((line) => line !== undefined)
    if (url !== undefined && found.some((line) => line.url !== url)) continue
    for (const events of filesOf(found.map(({ event }) => event))) backlog.write(events)
    unreadable += lines.length - found.length
    rmSync(path, { force: true })
  }
  return unreadable
}

/** A file is the body of one request: within Stint's limits for a batch, whatever its events hold. */
function* filesOf(events: readonly string[]): Generator<string[]> {
  let file: string[] = []
  let characters = 0
  for (const event of events) {
    if (file.length === BATCH_EVENTS || (file.length > 0 && characters + event.length > BATCH_CHARACTERS)) {
      yield file
      file = []
      characters = 0
    }
    file.push(event)
    characters += event.length
  }
  if (file.length > 0) yield file
}

function filesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((file) => NAME.test(file))
      .sort()
  } catch {
    return [] // there is no such directory
  }
}

function parseLine(line: string): { readonly url: string; readonly event: string } | undefined {
  try {
    const { kind, url, body, failed } = JSON.parse(line)
    const isEvent = typeof kind === 'string' && typeof url === 'string' && typeof body === 'object' && body !== null
    return isEvent ? { url, event: JSON.stringify({ kind, ...body, ...(failed === true && { failed }) }) } : undefined
  } catch {
    return undefined
  }
}
