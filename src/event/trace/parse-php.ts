// PHP: the header ends in the place that threw; below it numbered calls. Of chained exceptions the last (`Next …`) was thrown last.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

const BEGIN = /^\s*(?:Stack trace:|\[stacktrace\])\s*$/
const CALL = /^#\d+ (?:(.{1,500})\(\d+\)|\[internal function\]): (.*)$/
const END = /^#\d+ \{main\}|^\s*thrown in /
const PLACE = / (?:in|at) (\/?[^\n]{1,500}?)(?::\d+\)?| on line \d+)$/

export function parsePhp(lines: readonly string[]): Raised[] | undefined {
  if (!lines.some((line) => CALL.test(line) || /^#\d+ \{main\}/.test(line))) return undefined
  const chain: Raised[] = []
  let block: string[] = []
  let calls: Frame[] = []
  const close = () => {
    const { type, message } = readHeader(block.filter((line) => line !== ''))
    const file = PLACE.exec(message)?.[1]
    const at = file === undefined ? [] : [{ name: '', file: fileName(file) }]
    chain.unshift({ type, message: message.replace(PLACE, ''), frames: [...at, ...calls] })
    block = []
    calls = []
  }
  for (const line of lines) {
    const [, file = '', call] = CALL.exec(line) ?? []
    if (call !== undefined) calls.push({ name: call.replace(/\(.*$/, ''), file: fileName(file) })
    else if (END.test(line)) {
      if (block.length > 0) close()
    } else if (!BEGIN.test(line) && calls.length === 0) block.push(line.trim())
  }
  if (calls.length > 0) close()
  return chain
}
