// JavaScript of Firefox and Safari: `function@place`.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

const FRAME = /^\s*([^@\s]{0,200})@(\S{0,500}\/\S{0,500}|\[native code\]|debugger eval code):\d+:\d+\s*$/

export function parseGecko(lines: readonly string[]): Raised[] | undefined {
  const found = lines.map((line) => FRAME.exec(line))
  const first = found.findIndex((match) => match !== null)
  if (first < 0) return undefined
  const frames = found.flatMap((match): Frame[] =>
    match === null ? [] : [{ name: match[1]!, file: fileName(match[2]!) }],
  )
  return [{ ...readHeader(lines.slice(0, first)), frames }]
}
