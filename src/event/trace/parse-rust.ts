// Rust: `thread … panicked at place:` and the message, or in older versions `'message', place`; the backtrace only where one was asked for.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

const PANICKED = /^thread '[^']{0,200}' (?:\(\d+\) )?panicked at (.*)$/
const OLD_FORM = /^'(.*)', (\S+:\d+:\d+)$/
const BACKTRACE = /^\s*stack backtrace:\s*$/i
const FRAME = /^\s{0,8}\d{1,5}: (?:0x[0-9a-f]{1,16} - )?(\S.*)$/
const PLACE = /^\s+at (\S.*)$/
const PLUMBING = /^<?(?:&?(?:std|core|alloc|anyhow|backtrace|tokio)::|rust_|__rust|_?_?(?:libc_)?start|main$|clone)/

export function parseRust(lines: readonly string[]): Raised[] | undefined {
  const panicked = lines.findIndex((line) => PANICKED.test(line))
  const backtrace = lines.findIndex((line) => BACKTRACE.test(line))
  if (panicked < 0 && backtrace < 0) return undefined
  const frames = backtrace < 0 ? [] : readFrames(lines.slice(backtrace + 1))
  if (panicked < 0) return [{ ...readHeader(lines.slice(0, backtrace)), frames }]

  const said = PANICKED.exec(lines[panicked]!)![1]!
  const [, oldMessage, oldPlace] = OLD_FORM.exec(said) ?? []
  const end = lines.findIndex((line, i) => i > panicked && (BACKTRACE.test(line) || line.startsWith('note: ')))
  const message =
    oldMessage ??
    lines
      .slice(panicked + 1, end < 0 ? undefined : end)
      .join('\n')
      .trim()
  const at: Frame = { name: '', file: fileName(oldPlace ?? said.replace(/:$/, '')) }
  return [{ type: 'panic', message, frames: frames.length > 0 ? frames : [at] }]
}

function readFrames(lines: readonly string[]): Frame[] {
  const frames = lines.flatMap((line, i): Frame[] => {
    const name = FRAME.exec(line)?.[1]
    if (name === undefined) return []
    return [{ name: name.replace(/::h[0-9a-f]{16}$/, ''), file: fileName(PLACE.exec(lines[i + 1] ?? '')?.[1] ?? '') }]
  })
  const own = frames.filter(({ name }) => !PLUMBING.test(name))
  return own.length > 0 ? own : frames
}
