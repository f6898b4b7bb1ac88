// Ruby: `place:in 'method'`; an uncaught exception has its message and type behind the first frame, a logged one above the frames.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

const FRAME = /^\s*(?:\d{1,5}: )?(?:from )?(\S.{0,400}?):\d+:in [`'"]([^'"\n]{1,300})['"](?:: (.*))?$/
const TYPE_BEHIND = /^(.*) \(([A-Z][\w:]{0,200})\)$/

export function parseRuby(lines: readonly string[]): Raised[] | undefined {
  const found = lines.map((line) => FRAME.exec(line))
  const first = found.findIndex((match) => match !== null)
  if (first < 0) return undefined
  const frames = found.flatMap((match): Frame[] =>
    match === null ? [] : [{ name: match[2]!, file: fileName(match[1]!) }],
  )
  if (lines[0]!.startsWith('Traceback (most recent call last)')) frames.reverse()

  const raised = found.findIndex((match) => match?.[3] !== undefined)
  if (raised < 0) return [{ ...readHeader(lines.slice(0, first)), frames }]
  const said = found[raised]![3]!
  const [, message, type = ''] = TYPE_BEHIND.exec(said) ?? []
  const end = found.findIndex((match, i) => i > raised && match !== null)
  const more = lines.slice(raised + 1, end < 0 ? undefined : end)
  return [{ type, message: [message ?? said, ...more].join('\n').trim(), frames }]
}
