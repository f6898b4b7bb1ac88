// The system calls that strace saw, in order. A call whose effect a test relies on counts from its end, any other from its beginning: what
// follows the one has certainly happened after it, what precedes the other before it.
import { readFileSync, readlinkSync, statfsSync } from 'node:fs'

export interface Call {
  readonly name: string
  readonly text: string
}

const FROM_THEIR_END = new Set(['fsync', 'fdatasync', 'openat', 'open'])

/** `isEffect`: a further call that counts from its end. */
export function parseTrace(trace: string, isEffect: (text: string) => boolean): Call[] {
  const begun = new Map<string, string>()
  const calls: Call[] = []
  for (const line of trace.split('\n')) {
    const [, thread, text] = /^(\d+) +(.*)$/.exec(line) ?? []
    if (thread === undefined || text === undefined) continue
    const isEnd = text.startsWith('<...')
    const name = /^\w+|(?<=^<\.\.\. )\w+/.exec(text)?.[0] ?? ''
    const beginning = isEnd ? begun.get(thread) : text
    const isLate = beginning !== undefined && (FROM_THEIR_END.has(name) || isEffect(beginning))
    if (isEnd) {
      begun.delete(thread)
      if (isLate) calls.push({ name, text: beginning.replace('<unfinished ...>', text.replace(/^<[^>]*>/, '')) })
    } else if (!text.endsWith('<unfinished ...>')) calls.push({ name, text })
    else {
      begun.set(thread, text)
      if (!isLate) calls.push({ name, text })
    }
  }
  return calls
}

const SEGMENT = /\d{16}\.segment/
const EXT4 = 0xef53

/** Writes of zeros make the next segment ready; all others to a segment are records or its header. */
export const isRecordWrite = ({ name, text }: Call): boolean =>
  name === 'pwrite64' && SEGMENT.test(text) && !/, "(\\0)+"/.test(text)

/** Follows which segments hold writes that a power loss would take back, by the calls of `dir`'s file system. */
export function followSegments(dir: string) {
  const honoursFlag = statfsSync(dir).type === EXT4
  const durable = new Set<string>()
  const unsynced = new Set<string>()
  const isDurable = ({ text }: Call) => honoursFlag && durable.has(/^\w+\((\d+)</.exec(text)?.[1] ?? '')
  return {
    unsynced,
    /** A write that needs no sync. */
    isDurable,
    /** Files of a running process that were opened before the trace began. */
    noteOpen(pid: number): void {
      for (const fd of new Bun.Glob('*').scanSync(`/proc/${pid}/fdinfo`)) {
        const flags = Number.parseInt(
          /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))?.[1] ?? '0',
          8,
        )
        if (SEGMENT.test(readlinkSync(`/proc/${pid}/fd/${fd}`)) && (flags & 0o10000) !== 0) durable.add(fd)
      }
    },
    note(call: Call): void {
      const { name, text } = call
      const segment = SEGMENT.exec(text)?.[0]
      if (segment === undefined) return
      const opened = name.startsWith('open') ? /= (\d+)</.exec(text)?.[1] : undefined
      if (opened !== undefined && text.includes('O_DSYNC')) durable.add(opened)
      else if (opened !== undefined) durable.delete(opened)
      else if (name === 'fdatasync') unsynced.delete(segment)
      else if (isRecordWrite(call) && !isDurable(call)) unsynced.add(segment)
    },
  }
}
