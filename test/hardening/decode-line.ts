// Reads a line of InfluxDB's line protocol by its grammar, as a reader who knows nothing of how Stint writes it: one line, or it throws.

export interface Line {
  readonly measurement: string
  readonly tags: Readonly<Record<string, string>>
  readonly fields: Readonly<Record<string, string | number | bigint | boolean>>
  readonly ns: string
}

const INTEGER = /^-?\d+i$/
const FLOAT = /^-?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/

export function decodeLine(text: string): Line {
  let at = 0

  /** Up to one of `ends`, which stays. A backslash counts only before what has a meaning here. */
  function word(ends: string, escapable: string): string {
    let read = ''
    while (at < text.length && !ends.includes(text[at]!)) {
      if (text[at] === '\n') throw new Error('a second line')
      if (text[at] === '\\' && escapable.includes(text[at + 1] ?? 'none')) at++
      read += text[at++]
    }
    return read
  }
  function expectOne(char: string): void {
    if (text[at] !== char) throw new Error(`${JSON.stringify(char)} expected at ${at} of ${JSON.stringify(text)}`)
    at++
  }
  function quoted(): string {
    let read = ''
    expectOne('"')
    while (text[at] !== '"') {
      if (at >= text.length) throw new Error('a string without an end')
      if (text[at] === '\n') throw new Error('a second line')
      if (text[at] === '\\' && '"\\'.includes(text[at + 1] ?? 'none')) at++
      read += text[at++]
    }
    at++
    return read
  }
  function value(): string | number | bigint | boolean {
    if (text[at] === '"') return quoted()
    const plain = word(', ', '')
    if (INTEGER.test(plain)) return BigInt(plain.slice(0, -1))
    if (FLOAT.test(plain)) return Number(plain)
    throw new Error(`no value: ${JSON.stringify(plain)}`)
  }
  function put<T>(into: Record<string, T>, key: string, one: T): void {
    if (key === '' || Object.hasOwn(into, key)) throw new Error(`${JSON.stringify(key)} twice, or empty`)
    into[key] = one
  }

  const measurement = word(', ', ', ')
  const tags: Record<string, string> = Object.create(null)
  while (text[at] === ',') {
    at++
    const key = word('=, ', ',= ')
    expectOne('=')
    const tag = word(', ', ',= ')
    if (tag === '' || tag.endsWith('\\')) throw new Error(`InfluxDB refuses the tag ${JSON.stringify(tag)}`)
    put(tags, key, tag)
  }
  expectOne(' ')
  const fields: Record<string, string | number | bigint | boolean> = Object.create(null)
  do {
    const key = word('=, ', ',= ')
    expectOne('=')
    put(fields, key, value())
  } while (text[at] === ',' && ++at > 0)
  expectOne(' ')
  const ns = text.slice(at)
  if (!/^-?\d+$/.test(ns)) throw new Error(`no time: ${JSON.stringify(ns)}`)
  return { measurement, tags, fields, ns }
}
