// Python: frames come outermost first, the exception after them; of chained ones the last was raised last.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

const BEGIN = 'Traceback (most recent call last)'
const FRAME = /^[\s|+-]{0,100}File "([^"]{1,500})", line \d+(?:, in (.{1,300}))?/
const CONNECTS = /^[\s|]{0,100}(?:During handling of|The above exception was|\+-[+-])/

export function parsePython(lines: readonly string[]): Raised[] | undefined {
  if (!lines.some((line) => FRAME.test(line))) return undefined
  const chain: Raised[] = []
  let frames: Frame[] = []
  let header: string[] = []
  const close = () => {
    if (frames.length > 0) chain.unshift({ ...readHeader(header), frames: frames.reverse() })
    frames = []
    header = []
  }
  for (const line of lines) {
    const [, file, name] = FRAME.exec(line) ?? []
    if (line.includes(BEGIN) || CONNECTS.test(line)) close()
    else if (file !== undefined) {
      if (header.length > 0) close()
      frames.push({ name: name?.trim() ?? '', file: fileName(file) })
    } else if (frames.length > 0 && (header.length > 0 || /^(?: {0,8}\| )?\S/.test(line)))
      header.push(line.replace(/^[ ]{0,8}\| /, ''))
  }
  close()
  return chain
}
