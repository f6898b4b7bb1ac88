// Unguessable and unique values of this room: ids, links, signing secrets.
import { randomBytes } from 'node:crypto'

const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 36 in a byte: larger bytes would make some characters more likely. */
const FAIR = 252

/** `wat_` and 16 characters that never need quoting. */
export function createId(kind: 'wat' | 'cha' | 'ale' | 'msg' | 'mnt'): string {
  let text = ''
  while (text.length < 16) {
    for (const byte of randomBytes(32)) if (byte < FAIR && text.length < 16) text += BASE36[byte % 36]
  }
  return `${kind}_${text}`
}

/** 256 bits for a link, in characters that need no escaping in a URL. */
export const createToken = (): string => randomBytes(32).toString('base64url')

/** A signing secret in the format of Standard Webhooks. */
export const createSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
