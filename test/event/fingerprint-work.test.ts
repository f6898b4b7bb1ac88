// The work of a fingerprint and of a headline: how many characters they hand to patterns, per character of the text.
import { expect, test } from 'bun:test'
import { fingerprint } from '../../src/event/fingerprint.ts'
import { headlineOf } from '../../src/wire/headline.ts'
import { readCorpus } from './corpus.ts'
import { CHARS, fill, STARTS, UNITS } from './costly-texts.ts'
import FAILURES from './failures.json'

/** Before the rules of November 23rd the corpus took 12.46, and the text that needs most 35.2. */
const USUAL = 12.46
const MOST = 35.2

/** Of a replacing pattern the text counts when it begins and when it looks; `looks`: only when it looks. */
function countWork(texts: readonly string[], read: (text: string) => string = fingerprint, looks = false): number {
  const { replace } = String.prototype
  const { exec } = RegExp.prototype
  let chars = 0
  String.prototype.replace = function (this: string, ...args: unknown[]) {
    if (!looks) chars += this.length
    return Reflect.apply(replace, this, args)
  } as typeof replace
  RegExp.prototype.exec = function (text) {
    chars += text.length - (this.global ? this.lastIndex : 0)
    return exec.call(this, text)
  }
  try {
    for (const text of texts) read(text)
  } finally {
    String.prototype.replace = replace
    RegExp.prototype.exec = exec
  }
  return chars
}

test('a usual text takes no more work than in the version before', () => {
  const texts = readCorpus().flatMap((fault) => fault.texts)
  expect(countWork(texts) / texts.join('').length).toBeLessThan(USUAL)
})

test('the work does not grow faster than the text, whatever is repeated', () => {
  const costly = UNITS.flatMap((unit) => STARTS.map((start) => fill(unit, start))).filter((text) => {
    const whole = countWork([text])
    return whole > MOST * CHARS || whole > 2.2 * countWork([text.slice(0, CHARS / 2)]) + CHARS
  })
  expect(costly.map((text) => text.slice(0, 60))).toEqual([])
})

test('the longest text takes no more work than the part of it that is read', () => {
  const costly = UNITS.filter((unit) => {
    const text = unit.repeat(Math.ceil((256 * 1024) / unit.length)).slice(0, 256 * 1024)
    return countWork([text]) > 2 * MOST * CHARS
  })
  expect(costly).toEqual([])
})

test('patterns look at no character more than 40 times, for a fingerprint or a headline', () => {
  const texts = [...FAILURES.flatMap((failure) => failure.texts), ...UNITS.map((unit) => fill(unit))]
  const costly = [fingerprint, headlineOf].flatMap((read) =>
    texts.filter((text) => countWork([text], read, true) > 40 * text.length),
  )
  expect(costly).toEqual([])
})
