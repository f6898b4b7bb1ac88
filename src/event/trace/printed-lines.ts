// A text as lines, without what terminals and loggers print around them.

import { isDigit } from './trace.ts'

const MAX_LINE = 1000
/** Texts of more lines lose some in the middle, so that the number of lines bounds the cost. */
const [FIRST_LINES, LAST_LINES] = [200, 100]
const COLOUR = /\u001b\[[\d;?]{0,20}[A-Za-z]/g
/** The container before each line (Docker Compose, Foreman, kubectl), or a border (Terraform). */
const PRINTER =
  /^(?:(?:[\d:]{8} )?[A-Za-z][\w.-]{0,60}(?:[-_.]\d{1,4} {1,30}| {2,30})\||\[pod\/[^\]]{1,200}\]| {0,9}│) ?/
/** Syslog, platforms, `docker logs -t` and game servers. */
const LOGGER = new RegExp(
  '^(?:(?:\\w{3} [ \\d]\\d [\\d:]{8}|[\\d-]{10}[T ][\\d:.,Z+-]{8,32}) (?:[\\w.-]{1,99} )?[\\w./@()-]+\\[[\\w.]+\\]:' +
    '|[\\d-]{10}T[\\d:.]{8,18}(?:Z|[+-][\\d:]{5})(?: std(?:out|err) [FP])?|\\[?[\\d:]{8}\\]? \\[[\\w /-]{1,60}\\]:?) ?',
)

/** Lines end in `\n` alone. */
export const withLineFeeds = (text: string): string =>
  text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', '\n') : text

/** UTF-16 that was read as another encoding has a NUL beside each letter. */
export function splitLines(text: string): string[] {
  const lines = withLineFeeds(text.includes('\0') ? text.replaceAll('\0', '') : text).split('\n')
  if (lines.length > FIRST_LINES + LAST_LINES) lines.splice(FIRST_LINES, lines.length - FIRST_LINES - LAST_LINES)
  return lines.map((line) => withoutPrinter(line.slice(0, MAX_LINE).trimEnd()))
}

export function withoutPrinter(line: string): string {
  const plain = line.includes('\u001b') ? line.replace(COLOUR, '') : line
  return plain.includes(' |') || plain.includes('│') || plain.startsWith('[pod/') ? plain.replace(PRINTER, '') : plain
}

/** For lines of a trace: what is left tells frames from other lines. */
export function withoutLogger(line: string): string {
  const colon = line.indexOf(':')
  return colon > 1 && colon < 14 && isDigit(line.charCodeAt(colon + 1)) ? line.replace(LOGGER, '') : line
}
