// Everything of this room that must not be guessed or repeat: ids, links, signing secrets.
import { randomBytes } from 'node:crypto'

const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 36 that a byte can hold: bytes beyond it would make some characters more likely. */
const FAIR = 252

/** `wat_` and 16 characters that need no quoting anywhere. */
export function createId(kind: 'wat' | 'cha' | 'ale' | 'msg'): string {
  let text = ''
  while (text.length < 16) {
    for (const byte of randomBytes(32)) if (byte < FAIR && text.length < 16) text += BASE36[byte % 36]
  }
  return `${kind}_${text}`
}

/** 256 bits for the address of a link, in characters that a URL needs no escapes for. */
export const createToken = (): string => randomBytes(32).toString('base64url')

/** A signing secret as Standard Webhooks writes it. */
export const createSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
