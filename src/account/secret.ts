// The random strings that are handed out: keys, session tokens, ids, setup codes. Only their SHA-256 is ever kept.
// No salt needed: unlike a password, each has more than 160 random bits that nothing on disk shows, or 106 in a UUID.
import { randomBytes, timingSafeEqual } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE36 = BASE62.slice(0, 10) + BASE62.slice(36)
/** Without the letters that are mistaken for digits or for each other. */
const READABLE = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'

const KEY_START = 'stint_'
const KEY_RANDOM = 36
const KEY_CHECKSUM = 6
const KEY_LENGTH = KEY_START.length + KEY_RANDOM + KEY_CHECKSUM
/** The part of a key that lists show: `stint_` and 6 characters; 30 remain, 178 bits. */
const KEY_VISIBLE = KEY_START.length + 6
/** Version 4: 122 random bits. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** The part of a UUID that lists show. */
const UUID_VISIBLE = 4

/** Uniformly random characters of an alphabet (bytes beyond its largest multiple are drawn again). */
function randomText(alphabet: string, length: number): string {
  const fair = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < fair && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** `stint_`, 36 random characters, and a checksum that lets scanners recognize a key and tell a typo from one. */
export function createKeySecret(): string {
  const body = KEY_START + randomText(BASE62, KEY_RANDOM)
  return body + checksum(body)
}

export const visiblePrefix = (secret: string): string =>
  secret.slice(0, secret.startsWith(KEY_START) ? KEY_VISIBLE : UUID_VISIBLE)

/** A secret that a caller may bring for a ping key: as other services make their addresses. */
export const isBroughtSecret = (secret: string): boolean => UUID.test(secret)

/** Could this be a key? Cheap, so that noise is refused before it is hashed; says nothing about the checksum. */
export const looksLikeKey = (secret: string): boolean =>
  secret.startsWith(KEY_START) ? secret.length === KEY_LENGTH : isBroughtSecret(secret)

/** CRC-32 in base 62, six characters. */
export function checksum(body: string): string {
  let rest = Bun.hash.crc32(body)
  let text = ''
  for (let i = 0; i < KEY_CHECKSUM; i++) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** 43 characters, 256 bits. */
export const createSessionToken = (): string => randomText(BASE62, 43)

/** `acc_` and 16 characters that need no quoting in any store, URL or shell. */
export const createId = (kind: 'acc' | 'key' | 'ses' | 'per' | 'inv'): string => `${kind}_${randomText(BASE36, 16)}`

/** 20 characters, 100 bits, in groups that can be read out. */
export const createSetupCode = (): string => randomText(READABLE, 20).replace(/(?<=.)(?=(.{4})+$)/g, '-')

/** The stored form of a secret: SHA-256, 64 hex digits. */
export const hashSecret = (secret: string): string => Bun.SHA256.hash(secret, 'hex')

/** Compares in a time that does not tell where two secrets differ, nor their lengths. */
export const sameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(Bun.SHA256.hash(a) as Uint8Array, Bun.SHA256.hash(b) as Uint8Array)
