import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createTextTail } from '../../src/wire/text-tail.ts'

const lastCodePoints = (text: string, max: number) => [...text].slice(-max).join('')

test('keeps the end of a text, whatever its chunks', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme-composite', maxLength: 40 }),
    fc.constantFrom('\ufeff', 'é', '😀', '\n'),
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.integer({ min: 1, max: 20 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 50 })),
      (texts, max, cuts) => {
        const bytes = new TextEncoder().encode(texts.join(''))
        const tail = createTextTail(max)
        for (let at = 0; at < bytes.length; ) {
          const { value: length } = cuts.next() as { value: number }
          tail.push(bytes.subarray(at, at + length))
          at += length
        }
        expect(tail.text()).toBe(lastCodePoints(texts.join(''), max))
      },
    ),
  )
})

test('bytes that are not text are harmless and stay few', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
      const tail = createTextTail(10)
      for (const chunk of chunks) tail.push(chunk)
      expect([...tail.text()].length).toBeLessThanOrEqual(10)
      expect(tail.text().isWellFormed()).toBe(true)
    }),
  )
})

test('copies its input, so the caller may reuse the buffer', () => {
  const tail = createTextTail(100)
  const chunk = new TextEncoder().encode('first')
  tail.push(chunk)
  chunk.fill(0x78)
  expect(tail.text()).toBe('first')
})
