// Where a text stops being JSON: line, column and the kind of the fault, never a character of the text. Only its
// beginning is read, after JSON.parse has refused it: the rest would block the event loop.

const MAX_READ = 64 * 1024
const BEYOND = `after the first ${MAX_READ} characters`
const SPACE = /[ \t\n\r]/
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** Characters that may follow a value. */
const AFTER_VALUE = /[ \t\n\r,\]}]/
const WORD = /[A-Za-z_$][\w$]*/y
const LITERALS = ['true', 'false', 'null']
const ESCAPE = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

/** `line 2, column 14: a comma before a closing bracket`, `after the first 65536 characters`; undefined: no fault. */
export function findJsonFault(text: string, firstLine = 1): string | undefined {
  const found = scan(text)
  if (found === undefined) return undefined
  if (found.at >= MAX_READ) return BEYOND
  const before = text.slice(0, found.at)
  const line = firstLine + before.split('\n').length - 1
  const column = [...before.slice(before.lastIndexOf('\n') + 1)].length + 1
  return `line ${line}, column ${column}: ${found.kind}`
}

interface Fault {
  readonly at: number
  readonly kind: string
}

const OPENED = { '[': ']', '{': '}' } as const
type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end'

/** One state and a list of open brackets instead of recursion: a text may be nothing but brackets. */
function scan(text: string): Fault | undefined {
  const closers: string[] = []
  let expected: Expected = 'value'
  let at = 0
  const fault = (kind: string): Fault => ({ at, kind })
  const afterValue = (): Expected => (closers.length === 0 ? 'end' : 'comma')
  for (;;) {
    while (at < text.length && at < MAX_READ && SPACE.test(text[at]!)) at++
    if (at >= MAX_READ) return fault(BEYOND)
    const char = text[at]
    if (char === undefined) return expected === 'end' ? undefined : fault('the text ends in the middle of a value')
    switch (expected) {
      case 'end':
        return fault('something follows the value')
      case 'colon':
        if (char !== ':') return fault('no colon after a name')
        at++
        expected = 'value'
        break
      case 'comma':
        if (char === closers.at(-1)) {
          closers.pop()
          expected = afterValue()
        } else if (char === ',') expected = closers.at(-1) === '}' ? 'name' : 'value'
        else return fault(char === ']' || char === '}' ? 'the wrong closing bracket' : 'no comma between two values')
        at++
        break
      case 'name':
      case 'first name': {
        if (char === '}' && expected === 'first name') {
          closers.pop()
          at++
          expected = afterValue()
          break
        }
        if (char === '}') return fault('a comma before a closing bracket')
        if (char !== '"') return fault(nameKind(char))
        const end = endOfString(text, at)
        if (typeof end !== 'number') return end
        at = end
        expected = 'colon'
        break
      }
      default: {
        if (char === ']' && closers.at(-1) === ']') {
          if (expected !== 'first value') return fault('a comma before a closing bracket')
          closers.pop()
          at++
        } else if (char === '[' || char === '{') {
          closers.push(OPENED[char])
          at++
          expected = char === '[' ? 'first value' : 'first name'
          break
        } else {
          const end = endOfScalar(text, at, char)
          if (typeof end !== 'number') return end
          at = end
        }
        expected = afterValue()
      }
    }
  }
}

const nameKind = (char: string) =>
  char === "'" ? 'single quotes instead of double quotes' : char === ',' ? 'a comma too many' : 'a name without quotes'

function endOfScalar(text: string, at: number, char: string): number | Fault {
  const fault = (kind: string): Fault => ({ at, kind })
  if (char === '"') return endOfString(text, at)
  if (char === "'") return fault('single quotes instead of double quotes')
  if (char === ',') return fault('a comma too many')
  if (char === ':' || char === '}' || char === ']') return fault('no value')
  if (/[-+.\d]/.test(char)) {
    const end = match(NUMBER, text, at)
    const isWhole = end !== undefined && (end === text.length || AFTER_VALUE.test(text[end]!))
    return isWhole ? end : fault('an invalid number')
  }
  const end = match(WORD, text, at)
  if (end === undefined) return fault('a character that begins no value')
  return LITERALS.includes(text.slice(at, end)) ? end : fault('a word without quotes')
}

function endOfString(text: string, start: number): number | Fault {
  for (let at = start + 1; at < text.length; at++) {
    if (at >= MAX_READ) return { at, kind: BEYOND }
    const char = text[at]!
    if (char === '"') return at + 1
    if (char < ' ') return { at, kind: char === '\n' ? 'a line break in a text' : 'a control character in a text' }
    if (char !== '\\') continue
    const end = match(ESCAPE, text, at + 1)
    if (end === undefined) return { at, kind: 'an invalid escape in a text' }
    at = end - 1
  }
  return { at: start, kind: 'a text without its closing quote' }
}

/** The end of a match that begins at `at`. */
function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
