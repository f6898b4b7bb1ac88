// What a terminal would still show of a printed text. What is stored keeps every character.

const ESCAPE = '\u001b'
const ERASE = '\b'
/** Titles and links of a terminal may be as long. */
const CONTROL_MAX = 2_000
/** What differs between two states of one progress line. */
const PROGRESS = /[\d\s.,:%/|#=>*\u2580-\u259f\u2501\u2578\u2800-\u28ff\\[\]()-]+/g

/** Lines end in `\n` alone; of a progress line that overwrote itself the last state is left. */
export function asPrinted(text: string): string {
  let printed = text.includes('\0') ? text.replaceAll('\0', '') : text // UTF-16 that was read as another encoding
  if (printed.includes(ESCAPE)) printed = withoutControls(printed)
  if (printed.includes(ERASE)) printed = withoutErased(printed)
  if (!printed.includes('\r')) return printed
  const lines = printed.replaceAll('\r\n', '\n')
  return lines.includes('\r') ? lines.split('\n').map(lastStates).join('\n') : lines
}

/** Colours and movements of the cursor (CSI), titles and links (OSC), and the short ones. */
function withoutControls(text: string): string {
  const kept: string[] = []
  let from = 0
  for (let at = text.indexOf(ESCAPE); at >= 0; at = text.indexOf(ESCAPE, from)) {
    kept.push(text.slice(from, at))
    from = endOfControl(text, at + 1)
  }
  return kept.join('') + text.slice(from)
}

function endOfControl(text: string, at: number): number {
  const kind = text.charAt(at)
  if (kind === '[') {
    let end = at + 1
    while (end < at + 40 && text.charAt(end) >= ' ' && text.charAt(end) <= '?') end++
    return isFinal(text.charAt(end)) ? end + 1 : end
  }
  if (kind !== '' && ']PX^_'.includes(kind)) {
    for (let end = at + 1; end < text.length && end < at + CONTROL_MAX; end++) {
      const char = text.charAt(end)
      if (char === '\u0007') return end + 1
      if (char === ESCAPE) return text.charAt(end + 1) === '\\' ? end + 2 : end
      if (char === '\n') return end
    }
    return at + 1
  }
  if (kind === '(' || kind === ')' || kind === '#') return at + 2 // a set of characters
  return kind >= '0' && kind <= '~' ? at + 1 : at
}

const isFinal = (char: string): boolean => char >= '@' && char <= '~'

function withoutErased(text: string): string {
  const kept: string[] = []
  for (const char of text)
    if (char !== ERASE) kept.push(char)
    else if (kept.length > 0 && kept.at(-1) !== '\n') kept.pop()
  return kept.join('')
}

/** A state that differs from the next one in figures and bars alone was overwritten by it. */
function lastStates(line: string): string {
  if (!line.includes('\r')) return line
  const states = line.split('\r')
  const shapes = states.map((state) => state.replace(PROGRESS, ''))
  return states.filter((_, i) => i + 1 === states.length || shapes[i] !== shapes[i + 1]).join('\n')
}
