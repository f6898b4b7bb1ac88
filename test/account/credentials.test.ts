import { expect, test } from 'bun:test'
import { newEmail, normalizeEmail, passwordFault } from '../../src/account/credentials.ts'

test.each([
  ['Ada@Example.COM', 'ada@example.com'],
  ['a+b_c.d@sub-domain.example.org', 'a+b_c.d@sub-domain.example.org'],
  ["o'hara!#$%&*/=?^`{|}~-@example.com", "o'hara!#$%&*/=?^`{|}~-@example.com"],
  ['me@localhost', 'me@localhost'],
  ['J\u00f6rg@b\u00fccher.example', 'j\u00f6rg@b\u00fccher.example'],
  ['Jo\u0308rg@example.com', 'j\u00f6rg@example.com'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
])('accepts %s as an address', (email, normal) => expect(normalizeEmail(email)).toBe(normal))

test.each([
  '',
  '@',
  'ada',
  '@example.com',
  'ada@example',
  'ada@exa mple.com',
  'ada@example.com\n',
  'a@b@example.com',
  'ada.@example.com',
  'a..b@example.com',
  'ada@-example.com',
  'ada@example..com',
  'ada\u0000@example.com',
  'ada\ud800@example.com',
  '<ada@example.com>',
  'ada@[127.0.0.1]',
  `${'a'.repeat(65)}@example.com`,
  `a@${'b'.repeat(64)}.com`,
  `a@${'b.'.repeat(130)}com`,
])('rejects %j', (email) => expect([newEmail(email), normalizeEmail(email)]).toEqual([undefined, undefined]))

// People of 2.0 may have one: they are found as they were then.
test.each([
  ['\u212aim@example.com', 'kim@example.com'], // Kelvin's K
  ['o\ufb03ce@example.com', 'o\ufb03ce@example.com'], // the ligature ffi
  ['\uff41da@example.com', '\uff41da@example.com'], // a wide a
])('finds %j, and takes no new person with it', (email, known) =>
  expect([normalizeEmail(email), newEmail(email)]).toEqual([known, undefined]),
)

// An expression that backtracks would exceed the time limit of the test.
test.each(['a.', 'a', 'a-', '.', '\u0308'])('rejects a long hostile address of %j', (part) => {
  const addresses = [`${part.repeat(100_000)}@example.com`, `a@${part.repeat(100_000)}`, `a@${part.repeat(120)}!`]
  expect(addresses.map(normalizeEmail)).toEqual([undefined, undefined, undefined])
})

test.each<[string, string | undefined]>([
  ['1234567', 'must have at least 8 characters'],
  ['1234567x', undefined],
  ['12345678', 'is one of the most common passwords; choose another'],
  ['PassWord', 'is one of the most common passwords; choose another'],
  ['Welcome2026!', 'is one of the most common passwords; choose another'],
  ['1password', 'is one of the most common passwords; choose another'],
  ['password of a test', undefined],
  ['99 welcome mats', undefined],
  ['\u{1f600}'.repeat(7), 'must have at least 8 characters'],
  ['\u{1f600}'.repeat(8), 'is one character repeated; choose another'],
  ['aaaaaaaaaaaaaaaa', 'is one character repeated; choose another'],
  ['e\u0301'.repeat(8), 'is one character repeated; choose another'],
  [`${'\u{1f600}'.repeat(7)}!`, undefined],
  [`${'x'.repeat(1023)}y`, undefined],
  [`${'\u{1f600}'.repeat(1023)}y`, undefined],
  ['x'.repeat(1025), 'must have at most 1024 characters'],
  ['x'.repeat(1_000_000), 'must have at most 1024 characters'],
  ['12345678\ud800', 'must be well-formed Unicode'],
])('the password %#: %s', (password, detail) => expect(passwordFault(password)?.detail).toBe(detail!))

test.each([
  ['ada@example.com', 'is your e-mail address; choose another'],
  ['ADA@Example.com', 'is your e-mail address; choose another'],
  ['ada@example.com!', undefined],
  ['bob@example.com', undefined],
])('the password %s of ada@example.com', (password, detail) =>
  expect(passwordFault(password, 'ada@example.com')?.detail).toBe(detail!),
)
