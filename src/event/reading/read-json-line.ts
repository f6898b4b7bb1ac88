// A line of JSON that a logger wrote → the lines that it means: level, sentence, error and stack, whatever their
// members are called. What a value is decides its form: a trace has frames, a time is one, a level is a word of few.
//   {"level":"error","msg":"import failed","err":{"message":"no rate","stack":"Error: no rate\n  at load (a.js:1:2)"}}
//   → ERROR import failed: no rate
//     Error: no rate
//       at load (a.js:1:2)
import { parseTraces } from '../trace/parse-trace.ts'

/** Deeper members are data. */
const DEPTH = 4
/** So many members are looked at. */
const MEMBERS = 60
const SENTENCE_MAX = 900

const LEVEL = new RegExp(
  '^(?:trace|debug|verbose|info(?:rmation)?|notice|default|warn(?:ing)?|err(?:or)?|severe|fatal|crit(?:ical)?|alert' +
    '|emerg(?:ency)?|panic|dpanic)$',
  'i',
)
/** The end of the key of a level, as a search finds it, too. */
export const LEVEL_KEY = '(?:level|severity|@l|lvl|pri(?:ority)?)(?:_?(?:name|text|value|num(?:ber)?))?'
const IS_LEVEL_KEY = new RegExp(`${LEVEL_KEY}$`, 'i')
const TIME = /^\d{4}-?\d\d-?\d\d[T ]?[\d:]|^\d{1,2}[/:.]\d\d|^[A-Z][a-z]{2},? [\dA-Z]|^\d[\d.,]*$/
/** The last word of the key of a value that describes the fault. */
const DESCRIBES = new RegExp(
  '(?:message|msg|text|reason|details?|description|err|errors?|error_?string|exception|fault|failure|event|cause' +
    '|summary|title|@m|@mt|@x|exc_?info)$',
  'i',
)
const IS_ERROR = /(?:err|errors?|error_?string|exception|fault|failure|cause|reason|details?|@x|exc_?info)$/i
/** The same of a value that names it. */
const NAMES = /(?:^|[^a-z]|[a-z](?=[A-Z]))(?:code|type|kind|class|status|status_?code|errno)$/i
/** Serilog and others: a sentence that names members. */
const HOLE = /\{[@$]?(\w{1,60})(?:[,:][^{}]{0,40})?\}/g

interface Member {
  /** With the keys above it: `err.message`. */
  readonly key: string
  readonly text: string
}

/** Undefined unless the line is an object of JSON. */
export function readJsonLine(line: string): string[] | undefined {
  const value = parseObject(line)
  return value === undefined ? undefined : readObject(value, 0)
}

function parseObject(text: string): object | undefined {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{') || !trimmed.endsWith('}')) return undefined
  try {
    const value: unknown = JSON.parse(trimmed)
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? value : undefined
  } catch {
    return undefined
  }
}

function readObject(value: object, depth: number): string[] | undefined {
  const members: Member[] = []
  collect(value, '', DEPTH, members)
  const level = readLevel(members)
  const texts = members.filter(({ text }) => text.trim() !== '' && !LEVEL.test(text) && !TIME.test(text))
  // Docker's and others' wrapping: a member is what was printed, with its line break, or is such a line itself.
  for (const { text } of texts) {
    const inner = depth < 2 ? parseObject(text) : undefined
    const lines = inner && readObject(inner, depth + 1)
    if (lines !== undefined) return lines
    if (text.endsWith('\n') && !text.trimEnd().includes('\n') && level === '') return [text.trimEnd()]
  }
  const traces = texts.filter(({ text }) => text.includes('\n') && parseTraces(text.split('\n')).length > 0)
  const trace =
    traces
      .toSorted((a, b) => b.text.length - a.text.length)[0]
      ?.text.trimEnd()
      .split('\n') ?? []
  const said = describe(
    texts.filter((member) => !traces.includes(member)),
    members,
  )
  if (said === '' && trace.length === 0) return undefined
  const first = `${level}${level !== '' && said !== '' ? ' ' : ''}${said.slice(0, SENTENCE_MAX)}`
  return [...(first === '' ? [] : [first]), ...trace]
}

function collect(value: object, above: string, depth: number, members: Member[]): void {
  for (const [name, it] of Object.entries(value)) {
    if (members.length >= MEMBERS) return
    const key = above === '' ? name : `${above}.${name}`
    if (typeof it === 'string') members.push({ key, text: it })
    else if (typeof it === 'number' || typeof it === 'boolean') members.push({ key, text: String(it) })
    else if (Array.isArray(it) && it.length > 0 && it.every((line) => typeof line === 'string'))
      members.push({ key, text: it.join('\n') })
    else if (typeof it === 'object' && it !== null && depth > 1) collect(it, key, depth - 1, members)
  }
}

/** Names differ, numbers too: pino and bunyan count 10 to 60 upwards, syslog 7 to 0 downwards. */
function readLevel(members: readonly Member[]): string {
  for (const { key, text } of members)
    if (IS_LEVEL_KEY.test(key)) {
      if (LEVEL.test(text)) return /^(?:err|crit)$/i.test(text) ? 'ERROR' : text.toUpperCase()
      if (/^[0-7]$/.test(text)) return Number(text) < 4 ? 'ERROR' : text === '4' ? 'WARN' : 'INFO'
      if (/^[1-6]0$/.test(text)) return Number(text) >= 50 ? 'ERROR' : text === '40' ? 'WARN' : 'INFO'
    }
  return ''
}

/** The sentence, then the errors that it does not repeat, then codes. */
function describe(texts: readonly Member[], members: readonly Member[]): string {
  const describing = texts.filter(({ key }) => DESCRIBES.test(key))
  const longest = texts.toSorted((a, b) => b.text.length - a.text.length).slice(0, 1)
  const [sentence, ...others] = [
    ...describing.filter(({ key }) => !IS_ERROR.test(key)),
    ...describing.filter(({ key }) => IS_ERROR.test(key)),
    ...(describing.length === 0 ? longest : []),
  ].map(({ key, text }) => ({ key, text: fill(text, members) }))
  if (sentence === undefined) return ''
  const said: string[] = [oneLine(sentence.text)]
  for (const { text } of others) {
    const line = oneLine(text)
    if (!said.some((known) => known.includes(line) || similar(known, line))) said.push(line)
  }
  const codes = members
    .filter(({ key, text }) => NAMES.test(key) && text.length < 60 && !said.some((known) => known.includes(text)))
    .map(({ key, text }) => `${key.slice(key.lastIndexOf('.') + 1)}=${text}`)
  return [said.join(': '), ...codes].join(' ')
}

const oneLine = (text: string): string => (text.trim().split('\n', 1)[0] ?? '').trim()

/** A template beside the sentence that it made. */
const similar = (one: string, other: string): boolean =>
  other.search(HOLE) >= 0 && one.startsWith(other.slice(0, other.indexOf('{')))

const fill = (text: string, members: readonly Member[]): string =>
  text.includes('{')
    ? text.replace(
        HOLE,
        (hole, name: string) => members.find(({ key }) => key.split('.').at(-1) === name)?.text ?? hole,
      )
    : text
