// Traces whose frames begin with `at`: JavaScript (V8), Java and its kin, C#. Causes follow, or in C# stand inside.
import { readHeader } from './read-header.ts'
import { type Frame, fileName, type Raised } from './trace.ts'

/** Node opens the properties of an exception behind its last frame. */
const AT = /^\s*at (\S.*?)(?: \{)?$/
const V8_PLACE = /(?::\d+){1,2}$|^native$|^<anonymous>$|^index \d+$|^eval at /
const V8_NAMED = /^(?:async )?(?:new )?([^(]*) \((.*)\)$/
const JVM =
  /^(?:[\w.@-]*\/{1,2})?([\w$.<>/-]+)\((?:([\w$ -]+\.(?:java|kt|kts|scala|groovy|clj|jsp))(?::\d+)?|SourceFile(?::\d+)?|Native Method|Unknown Source|<\w+>)\)/
const CAUSE = /^\s*(?:Caused by: |\[cause\]: |---> )/
const INNER_ENDS = /^\s*--- End of inner exception stack trace ---/
const PLUMBING =
  /^node:internal|^(?:java|jdk|sun)\.(?:base|lang\.reflect|internal|reflect)\b|^System\.Runtime\.(?:CompilerServices|ExceptionServices)\./

interface Open {
  readonly header: string[]
  readonly frames: (Frame & { readonly isPlumbing: boolean })[]
}

export function parseAt(lines: readonly string[]): Raised[] | undefined {
  const chain: Open[] = [{ header: [], frames: [] }]
  const open: Open[] = [...chain]
  const begin = (line: string) => {
    const next = { header: [line], frames: [] }
    chain.push(next)
    open.push(next)
  }
  for (const line of lines) {
    const current = open.at(-1)!
    const frame = readFrame(AT.exec(line)?.[1] ?? '')
    if (frame !== undefined) current.frames.push(frame)
    else if (INNER_ENDS.test(line)) open.length > 1 && open.pop()
    else if (CAUSE.test(line)) begin(line)
    else if (current.frames.length === 0) current.header.push(line)
  }
  if (chain.every(({ frames }) => frames.length === 0)) return undefined
  return chain.map(({ header, frames }) => {
    const own = frames.filter(({ isPlumbing }) => !isPlumbing)
    return {
      ...readHeader(header),
      frames: (own.length > 0 ? own : frames).map(({ name, file }) => ({ name, file })),
    }
  })
}

/** `text` is what stands behind `at `. */
function readFrame(text: string): Open['frames'][number] | undefined {
  const frame = (name: string, place: string) => ({
    name,
    file: fileName(place),
    isPlumbing: PLUMBING.test(place) || PLUMBING.test(name),
  })
  if (!text.includes('(')) return /(?::\d+){2}$/.test(text) ? frame('', text.replace(/^async /, '')) : undefined
  const [, v8Name, v8Place = ''] = V8_NAMED.exec(text) ?? []
  if (v8Name !== undefined && V8_PLACE.test(v8Place))
    return frame(v8Name.replace(/ \[as .*\]$/, ''), v8Place.startsWith('index ') ? '' : v8Place)
  const [, jvmName, jvmFile = ''] = JVM.exec(text) ?? []
  if (jvmName !== undefined) return frame(jvmName, jvmFile)
  const bracket = text.indexOf('(')
  const close = text.indexOf(')', bracket)
  if (close < 0 || !/^\w[\w<>`$,[\]|+-]*\.[\w.<>`$,[\]|+-]+$/.test(text.slice(0, bracket))) return undefined
  const place = text.lastIndexOf(' in ')
  return frame(text.slice(0, bracket).trim(), place > close ? text.slice(place + 4).replace(/:line \d+$/, '') : '')
}
