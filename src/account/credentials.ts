// The rules for e-mail addresses and passwords, in one place for sign-up, sign-in and the command line.
import { type Fault, Problem } from '../problem.ts'
import { PASSWORD_MAX, PASSWORD_MIN } from '../wire/accounts.ts'
import { isCommonPassword } from './common-passwords.ts'

const EMAIL_MAX = 254

/** Dot-separated atoms (RFC 5322, and letters beyond ASCII by RFC 6531). */
const LOCAL_PART = /^(?=.{1,64}$)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const LABEL = '(?!-)[\\p{L}\\p{M}\\p{N}-]{1,63}(?<!-)'
const DOMAIN = new RegExp(`^(?:(?:${LABEL}\\.)+${LABEL}|localhost)$`, 'u')

/** The form in which an address is stored and compared: NFC, lower case. undefined when it is no e-mail address. */
export function normalizeEmail(email: string): string | undefined {
  if (!email.isWellFormed()) return undefined
  const normal = email.normalize('NFC').toLowerCase()
  const at = normal.lastIndexOf('@')
  if (normal.length > EMAIL_MAX || at < 0) return undefined
  return LOCAL_PART.test(normal.slice(0, at)) && DOMAIN.test(normal.slice(at + 1)) ? normal : undefined
}

/** The form in which a password is hashed: NFC, so that an é typed on another system is the same é. */
export const normalizePassword = (password: string): string => password.normalize('NFC')

/** The fault of a new password, or undefined. Lengths are code points. */
export function passwordFault(password: string, pointer = '/password'): Fault | undefined {
  if (!password.isWellFormed()) return { pointer, detail: 'must be well-formed Unicode' }
  const length = password.length > PASSWORD_MAX * 2 ? password.length : [...password].length
  if (length < PASSWORD_MIN) return { pointer, detail: `must have at least ${PASSWORD_MIN} characters` }
  if (isCommonPassword(password)) return { pointer, detail: 'is one of the most common passwords; choose another' }
  if (length > PASSWORD_MAX) return { pointer, detail: `must have at most ${PASSWORD_MAX} characters` }
  return undefined
}

/** The normalised address; throws Problem `fields_invalid` with every fault of both. */
export function checkCredentials(email: string, password: string): string {
  const normal = normalizeEmail(email)
  const errors: Fault[] = []
  if (normal === undefined) errors.push({ pointer: '/email', detail: 'must be an e-mail address' })
  const fault = passwordFault(password)
  if (fault) errors.push(fault)
  if (normal === undefined || errors.length > 0) {
    throw new Problem('fields_invalid', 'The e-mail address or the password cannot be used.', { errors })
  }
  return normal
}
