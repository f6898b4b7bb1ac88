// The words for states and actions: people read them everywhere, and they are written once.
import { expect, test } from 'bun:test'
import { Glob } from 'bun'
import { ACTION_TEXT, acknowledgedText, missedText, PROCESS_STATE_TEXT, RUN_STATE_TEXT } from '../../src/wire/words.ts'

const SRC = `${import.meta.dir}/../../src`
const HOME = 'wire/words.ts'

const labels = [
  ...Object.values(RUN_STATE_TEXT),
  ...Object.values(PROCESS_STATE_TEXT).map(([label]) => label),
  ...Object.values(ACTION_TEXT),
].filter((text) => text.includes(' ') || text === ACTION_TEXT.acknowledge) // a word such as Failed also heads a column

/** Said otherwise before: a reader takes another word for another thing. */
const OTHERS = [
  /\bI am on it\b/,
  /\bPause alerts\b/,
  /\bnobody hears\b/i,
  /[>'`] ?overdue(?! *['`])/,
  /\bset-up code\b/i,
]

const files = await Promise.all(
  [...new Glob('{console,cli,notify,watch,wire}/**/*.{ts,tsx}').scanSync(SRC)]
    .filter((file) => file !== HOME)
    .map(async (file) => [file, withoutComments(await Bun.file(`${SRC}/${file}`).text())] as const),
)

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}

test.each([...new Set(labels)])('%s is written in one file alone', (label) => {
  const literal = new RegExp(`['"\`>]\\s*${label}\\s*['"\`<]`)
  expect(files.filter(([, text]) => literal.test(text)).map(([file]) => file)).toEqual([])
})

test.each(OTHERS)('%p is said nowhere any more', (other) => {
  expect(files.filter(([, text]) => other.test(text)).map(([file]) => file)).toEqual([])
})

test('each state has a word of its own', () => {
  const words = Object.values(PROCESS_STATE_TEXT).map(([, among]) => among)
  expect(new Set(words).size).toBe(words.length)
  expect(new Set(Object.values(RUN_STATE_TEXT)).size).toBe(Object.keys(RUN_STATE_TEXT).length)
  expect(RUN_STATE_TEXT.abandoned).toBe(PROCESS_STATE_TEXT.never_finished[0])
})

test('sentences about who acknowledged and what was missed', () => {
  expect(acknowledgedText('ada')).toBe('ada has acknowledged it')
  expect(missedText('09:32')).toBe('missed; was due 09:32')
})
