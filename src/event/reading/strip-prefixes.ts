// What stands before a frame on its line stands before every line of that trace: time, host, process, level, whatever
// the logger is. It is found by the frame and taken off; no logger is known by its name.

/** A frame that does not begin its line. */
const FRAME =
  /\S(?=\s{1,40}(?:File "[^"\n]{1,400}", line \d|at (?:async )?[^\s(]{1,300}(?: \[as \w{1,60}\])? ?\([^()\n]{0,300}\)|#\d{1,4} +\S{1,400}(?:\(\d| in )|from \S{1,300}:\d{1,7}:in ))/
const PARTS = ['File "', ' at ', '\tat ', ' #', '\t#', ' from ', '\tfrom ']
/** Each costs a look at all lines. */
const PREFIXES = 4
const PREFIX_MAX = 300

/** Each line without the prefix of its trace. */
export function stripPrefixes(lines: readonly string[]): readonly string[] {
  let now = lines
  for (let i = 1, found = 0; i < now.length && found < PREFIXES; i++) {
    const line = now[i]!
    const prefix = prefixOf(line)
    if (prefix === undefined || prefixOf(now[i - 1]!) !== undefined) continue
    const shape = shapeOf(prefix)
    const above = shape.exec(now[i - 1]!)
    // The exception's own line stands above; a sentence such as `failed at load (a.js:1)` has none that begins like it.
    if (above === null || above[0].length === now[i - 1]!.length) continue
    now = now.map((it) => it.replace(shape, ''))
    found++
  }
  return now
}

/** Without a letter or digit it is a border, which Python draws around the parts of a group. */
function prefixOf(line: string): string | undefined {
  if (!PARTS.some((part) => line.includes(part))) return undefined
  const end = FRAME.exec(line.slice(0, 2 * PREFIX_MAX))?.index
  const prefix = end === undefined ? '' : line.slice(0, end + 1)
  return /\w/.test(prefix) ? prefix : undefined
}

/** Digits vary: times, processes. */
const shapeOf = (prefix: string): RegExp =>
  new RegExp(`^${prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\d+/g, '\\d{1,20}')}(?: |\\t|$)`)
