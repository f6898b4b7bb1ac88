import { expect, test } from 'bun:test'
import { decodeText } from '../../src/wire/decode-text.ts'
import { createTextTail } from '../../src/wire/text-tail.ts'

const TEXT = 'The service cannot be started: für heute\n'
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const utf16 = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le'))
const swapped = (text: string) => new Uint8Array(Buffer.from(text, 'utf16le').swap16())

test.each<[string, Uint8Array, string]>([
  ['UTF-8', new TextEncoder().encode(TEXT), TEXT],
  ['UTF-16LE', utf16(TEXT), TEXT],
  ['UTF-16BE', swapped(TEXT), TEXT],
  ['UTF-16LE with a byte order mark', utf16(`\ufeff数据库错误\n`), '数据库错误\n'],
  ['UTF-16BE with a byte order mark', swapped(`\ufeff数据库错误\n`), '数据库错误\n'],
  ['Latin-1', latin1(TEXT), TEXT],
  ['windows-1252', Uint8Array.of(0x80, 0x20, 0x93, 0x61, 0x94), '€ “a”'],
  [
    'Latin-1 beside UTF-8',
    new Uint8Array(Buffer.concat([Buffer.from('größe\n'), latin1('größe\n'), Buffer.from('größe\n')])),
    'größe\ngröße\ngröße\n',
  ],
  ['a line of other bytes', Uint8Array.of(0x61, 0x0a, 0xff, 0x00, 0x01, 0x0a, 0x62), 'a\n\ufffd\0\u0001\nb'],
  ['nothing', Uint8Array.of(), ''],
])('%s', (_, bytes, text) => {
  expect(decodeText(bytes)).toBe(text)
  const tail = createTextTail(1000)
  for (const byte of bytes) tail.push(Uint8Array.of(byte))
  expect(tail.text()).toBe(text)
})
