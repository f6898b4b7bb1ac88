// The processes that a watch or a maintenance is about: a name, or one with `*` for any text.

export const isPattern = (process: string): boolean => process.includes('*')

export function createMatch(process: string): (name: string) => boolean {
  if (!isPattern(process)) return (name) => name === process
  const [first = '', ...parts] = process.split(/\*+/)
  const last = parts.pop() ?? ''
  // not a regular expression: a name that almost matches many `*` would block the event loop for hours
  return (name) => {
    const end = name.length - last.length
    let at = first.length
    if (end < at || !name.startsWith(first) || !name.endsWith(last)) return false
    for (const part of parts) {
      const found = name.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}
