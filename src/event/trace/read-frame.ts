// Reads one line of a stack trace as a frame. Its first characters decide which form it can have; each form is one
// pattern without nested repetition, so the time is linear in the line's length.
import { type Family, type Frame, isDigit, withoutLine } from './trace.ts'

export interface FoundFrame extends Frame {
  /** How many lines the frame takes: Go and Rust print the place below the function. */
  readonly lines: 1 | 2
  /** Python prints the outermost frame first and the exception below the frames. */
  readonly isPython?: true
  /** Ruby prints the exception behind the first frame. */
  readonly says?: string
}

const PYTHON = /^File "([^"]+)", line \d+(?:, in (.+))?$/
const PHP = /^#\d+ (?:\[internal function\]|([^(]+)\(\d+\)): ([^(]+)/
const GDB = /^#\d+ +(?:0x[0-9a-f]+ in )?([^\s(][^(]*?) ?\((?:.*\))? (?:at|from) (\S+)$/
const SANITIZER = /^#\d+ 0x[0-9a-f]+ in (\S.*) \(?(\S+)$/
const SWIFT = /^\d+ (?:\[ra\] )?(?:0x[0-9a-f]+ )?(?:\[ra\] )?(\S.*) \+ \d+ in \S+(?: at (\S.*))?$/
const DARWIN = /^\d+ +(\S+) +0x[0-9a-f]+ (\S.*) \+ \d+$/
const RUST = /^\d+: (?:0x[0-9a-f]+ - )?(\S.*)$/
const RUBY_PLACE = /^(?:\d+: )?(?:from )?(\S.*):\d+$/
const RUBY_NAME = /^([^'"]+)['"](?:: (.*))?$/
const GO_PLACE = /^\s+(\S.*\.(?:go|s)):\d+(?: \+0x[0-9a-f]+)?$/
const ELIXIR = /^(?:\([\w-]+(?: [\w.-]+)?\) )?(\S+\.(?:ex|erl):\d+): (\S.*)$/
const GLIBC = /^(\S+)\((\w*)\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]$/

const V8_PLACE = /^native$|^<anonymous>$|^index \d+$|^eval at /
const JVM_PLACE =
  /^(?:[\w$ -]+\.(?:java|kt|kts|scala|groovy|clj|jsp)(?::\d+)?|SourceFile(?::\d+)?|Native Method|Unknown Source|<\w+>)$/
const JVM_NAME = /^[\w$.<>/@-]+$/
const DOTNET_NAME = /^\w[\w<>`$,[\]|+-]*\.[\w.<>`$,[\]|+-]+$/

/** The frame that begins at `lines[i]`. */
export function readFrame(lines: readonly string[], i: number): FoundFrame | undefined {
  const line = lines[i]!
  const text = line.trimStart()
  if (text.startsWith('at ')) return readAt(text.slice(3))
  if (text.startsWith('File "') || text.startsWith('|')) return readPython(text)
  if (text.startsWith('#')) return readNumbered(text)
  const next = lines[i + 1] ?? ''
  const start = text.charCodeAt(0)
  if (isDigit(start)) {
    const found = readSwift(text) ?? readRust(text, next)
    if (found !== undefined) return found
  }
  return readElixir(text) ?? readRuby(text) ?? readGecko(text) ?? readGo(line, next) ?? readGlibc(text)
}

const frame = (name: string, place: string, family: Family = 'script'): FoundFrame => ({
  name,
  place,
  family,
  lines: 1,
})

/** Ends in `:12:34`. */
function hasColumn(place: string): boolean {
  const line = withoutLine(place)
  return line !== place && withoutLine(line) !== line
}

const withoutPrefix = (text: string, prefix: string): string =>
  text.startsWith(prefix) ? text.slice(prefix.length) : text

/** `text` is what stands behind `at `: JavaScript (V8), the languages of the JVM, and .NET. */
function readAt(text: string): FoundFrame | undefined {
  const line = text.endsWith(' {') ? text.slice(0, -2) : text // Node adds properties behind the last frame
  const open = line.indexOf('(')
  if (open < 0) return hasColumn(line) ? frame('', line.replace(/^async /, '')) : undefined
  const last = line.endsWith(')') ? line.lastIndexOf(' (') : -1
  const place = line.slice(last + 2, -1)
  if (last >= 0 && (withoutLine(place) !== place || V8_PLACE.test(place))) {
    const name = withoutPrefix(withoutPrefix(line.slice(0, last), 'async '), 'new ')
    const alias = name.indexOf(' [as ')
    return frame(alias < 0 ? name : name.slice(0, alias), place.startsWith('index ') ? '' : place)
  }
  const close = line.indexOf(')', open)
  const name = line.slice(0, open).trimEnd() // Mono prints a space
  if (close < 0) return undefined
  const inside = line.slice(open + 1, close)
  if (JVM_PLACE.test(inside) && JVM_NAME.test(name)) {
    const own = name.includes('/')
      ? name.slice(name.lastIndexOf('/', (name.indexOf('$') + 1 || Infinity) - 1) + 1)
      : name
    return frame(own, inside.includes('.') ? inside : '', 'jvm')
  }
  if (!DOTNET_NAME.test(name)) return undefined
  const at = line.lastIndexOf(' in ')
  return frame(name, at > close && line[at + 4] !== '<' ? line.slice(at + 4).replace(/:line \d+$/, '') : '', 'dotnet')
}

function readPython(text: string): FoundFrame | undefined {
  const [, file, name = ''] = PYTHON.exec(text.replace(/^[| ]+/, '')) ?? []
  return file === undefined ? undefined : { ...frame(name, file), isPython: true }
}

function readNumbered(text: string): FoundFrame | undefined {
  const [, phpFile = '', phpCall] = PHP.exec(text) ?? []
  if (phpCall !== undefined) return frame(phpCall, phpFile)
  const [, name, place = ''] = GDB.exec(text) ?? SANITIZER.exec(text) ?? []
  return name === undefined ? undefined : frame(name, place.replace(/\)$/, ''), 'native')
}

function readSwift(text: string): FoundFrame | undefined {
  if (!text.includes(' + ')) return undefined
  const [, name, place = ''] = SWIFT.exec(text) ?? []
  if (name !== undefined) return frame(name, place, 'native')
  const [, image = '', symbol] = DARWIN.exec(text) ?? []
  return symbol === undefined ? undefined : frame(symbol, image, 'native')
}

function readRust(text: string, next: string): FoundFrame | undefined {
  const name = RUST.exec(text)?.[1]
  if (name === undefined || (!name.includes('::') && !/^\w+$/.test(name))) return undefined
  const place = /^\s+at (\S.*)$/.exec(next)?.[1]
  return { ...frame(name, place ?? '', 'native'), lines: place === undefined ? 1 : 2 }
}

function readElixir(text: string): FoundFrame | undefined {
  if (!text.includes('.ex:') && !text.includes('.erl:')) return undefined
  const [, place, name = ''] = ELIXIR.exec(text) ?? []
  return place === undefined ? undefined : frame(name, place)
}

function readRuby(text: string): FoundFrame | undefined {
  const at = text.indexOf(':in ')
  const quote = text[at + 4]
  if (at < 0 || (quote !== '`' && quote !== "'" && quote !== '"')) return undefined
  const place = RUBY_PLACE.exec(text.slice(0, at))?.[1]
  const [, name, says] = RUBY_NAME.exec(text.slice(at + 5)) ?? []
  if (place === undefined || name === undefined) return undefined
  return { ...frame(name, place), ...(says !== undefined && { says }) }
}

function readGecko(text: string): FoundFrame | undefined {
  const at = text.indexOf('@')
  if (at < 0 || text.slice(0, at).includes(' ')) return undefined
  const place = text.slice(at + 1)
  if (!hasColumn(place)) return undefined
  const isPlace = place.startsWith('debugger eval code:') || place.startsWith('[native code]:')
  return isPlace || /^\S*\//.test(place) ? frame(text.slice(0, at), place) : undefined
}

function readGo(line: string, next: string): FoundFrame | undefined {
  if (line.startsWith(' ') || line.startsWith('\t') || !(next.startsWith('\t') || next.startsWith('  ')))
    return undefined
  const place = GO_PLACE.exec(next)?.[1]
  if (place === undefined) return undefined
  const open = line.lastIndexOf('(')
  return { ...frame(line.endsWith(')') ? line.slice(0, open) : line, place, 'go'), lines: 2 }
}

function readGlibc(text: string): FoundFrame | undefined {
  if (!text.endsWith(']')) return undefined
  const [, image = '', name] = GLIBC.exec(text) ?? []
  return name === undefined ? undefined : frame(name, image, 'native')
}
