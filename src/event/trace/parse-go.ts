// Go: after the panic, the goroutines; a function and, indented below it, its file. The first goroutine is the one that failed.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

const PLACE = /^\s+(\S.{0,500}\.(?:go|s)):\d+(?: \+0x[0-9a-f]+)?\s*$/
const GOROUTINE = /^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[/
const PANIC = /^(panic|fatal error): (.*)$/
const SERVING = /\b(panic) serving \S+: (.*)$/
const PLUMBING = /^(?:runtime[./]|panic$|testing\.|net\/http\.\(\*conn\))/

export function parseGo(lines: readonly string[]): Raised[] | undefined {
  const isFunction = (i: number) => /^\S/.test(lines[i] ?? '') && PLACE.test(lines[i + 1] ?? '')
  const first = lines.findIndex((line, i) => GOROUTINE.test(line) || isFunction(i))
  if (first < 0 || !lines.some((_, i) => isFunction(i))) return undefined

  const frames: Frame[] = []
  for (let i = first; i < lines.length; i++) {
    if (frames.length > 0 && GOROUTINE.test(lines[i]!)) break
    if (!isFunction(i) || lines[i]!.startsWith('created by ')) continue
    const file = fileName(PLACE.exec(lines[i + 1]!)![1]!)
    frames.push({ name: lines[i]!.replace(/\([^()]*\)$/, ''), file })
  }
  const own = frames.filter(({ name }) => !PLUMBING.test(name))
  return [{ ...header(lines.slice(0, first)), frames: own.length > 0 ? own : frames }]
}

function header(block: readonly string[]) {
  for (const [i, line] of block.entries()) {
    const [, type, message = ''] = PANIC.exec(line) ?? SERVING.exec(line) ?? []
    if (type !== undefined) return { type, message: [message, ...block.slice(i + 1)].join('\n').trim() }
  }
  return readHeader(block)
}
