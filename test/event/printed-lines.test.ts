// Texts as loggers print them: what stands before each line changes no group, and colours neither.
import { describe, expect, test } from 'bun:test'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { splitLines } from '../../src/event/trace/printed-lines.ts'
import { logLines, readTraces } from './corpus.ts'

/** `line` of an occurrence (0 or 1), each with another container, time and process. */
const PRINTED: readonly (readonly [by: string, line: (said: string, occurrence: number) => string])[] = [
  ['Docker Compose 1', (said, n) => `app_${n + 1}      | ${said}`],
  ['Docker Compose 2', (said, n) => `${['shop-web-1', 'web-12'][n]}  | ${said}`],
  ['Docker Compose with colours', (said, n) => `\u001b[3${n}mweb-1  | \u001b[0m${said}`],
  ['Foreman', (said, n) => `03:00:0${n} web.${n + 1}   | ${said}`],
  ['kubectl logs --prefix', (said, n) => `[pod/web-7d9f8b6c5d-${['x2x9p', 'bcdfg'][n]}/app] ${said}`],
  ['docker logs -t', (said, n) => `2026-11-2${n}T03:00:00.12345678${n}Z ${said}`],
  ['containerd', (said, n) => `2026-11-2${n}T03:00:00.12345678${n}+01:00 stderr F ${said}`],
  ['journald', (said, n) => `Nov 2${n} 03:00:00 web-${n} app[${n}17]: ${said}`],
  ['journald with years', (said, n) => `2026-11-2${n}T03:00:00+0100 web-${n} app[${n}17]: ${said}`],
  ['Heroku', (said, n) => `2026-11-2${n}T03:00:00.00000${n}+00:00 app[web.${n + 1}]: ${said}`],
  ['a game server', (said, n) => `[03:00:0${n}] [Server thread/ERROR]: ${said}`],
  ['Terraform', (said) => `│ ${said}`],
]

describe.each([
  ['an exception', (text: string) => text],
  ['a log of stint exec', (text: string) => `job.sh: exited with code 1\n${logLines(30, text.length)}\n${text}`],
])('each trace is one group of its own, as %s', (_, wrap) => {
  test.each(PRINTED)('printed by %s', (_, line) => {
    const groups = readTraces().map(({ one, another }) =>
      [one, another].map((text, n) =>
        fingerprint(
          wrap(
            text
              .split('\n')
              .map((said) => line(said, n))
              .join('\n'),
          ),
        ),
      ),
    )
    expect(groups.filter(([one, another]) => one !== another)).toEqual([])
    expect(new Set(groups.flat()).size).toBe(groups.length)
  })
})

test('colours go, and so does no text with a bar', () => {
  expect(splitLines('\u001b[1;31merror\u001b[0m: no room\r\nusers | failed\na|b')).toEqual([
    'error: no room',
    'users | failed',
    'a|b',
  ])
})
