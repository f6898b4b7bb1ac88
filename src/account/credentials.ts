// The rules for e-mail addresses and passwords, in one place for sign-up, sign-in and the command line.
import { type Fault, Problem } from '../problem.ts'
import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_MIN } from '../wire/accounts.ts'
import { hasFoldedLetters } from '../wire/folded-letters.ts'

/** Dot-separated atoms (RFC 5322, and letters beyond ASCII by RFC 6531). */
const LOCAL_PART = /^(?=.{1,64}$)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u
const LABEL = '(?!-)[\\p{L}\\p{M}\\p{N}-]{1,63}(?<!-)'
const DOMAIN = new RegExp(`^(?:(?:${LABEL}\\.)+${LABEL}|localhost)$`, 'u')

/** An address that is new here, as `normalizeEmail`; undefined also when it has letters that fold. */
export const newEmail = (email: string): string | undefined => {
  const normal = normalizeEmail(email)
  return normal !== undefined && !hasFoldedLetters(email) ? normal : undefined
}

/** The form in which an address is stored and compared: NFC, lower case. undefined when it is no e-mail address. */
export function normalizeEmail(email: string): string | undefined {
  if (email.length > EMAIL_MAX * 2 || !email.isWellFormed()) return undefined
  const normal = email.normalize('NFC').toLowerCase()
  const at = normal.lastIndexOf('@')
  if (normal.length > EMAIL_MAX || at < 0) return undefined
  return LOCAL_PART.test(normal.slice(0, at)) && DOMAIN.test(normal.slice(at + 1)) ? normal : undefined
}

/** The form in which a password is hashed: NFC, so that an é typed on another system is the same é. */
export const normalizePassword = (password: string): string => password.normalize('NFC')

/** The fault of a new password of the person with this address, or undefined. Lengths are code points. */
export function passwordFault(password: string, email = '', pointer = '/password'): Fault | undefined {
  if (!password.isWellFormed()) return { pointer, detail: 'must be well-formed Unicode' }
  const length = password.length > PASSWORD_MAX * 2 ? password.length : [...password].length
  if (length < PASSWORD_MIN) return { pointer, detail: `must have at least ${PASSWORD_MIN} characters` }
  if (isCommonPassword(password)) return { pointer, detail: 'is one of the most common passwords; choose another' }
  if (length > PASSWORD_MAX) return { pointer, detail: `must have at most ${PASSWORD_MAX} characters` }
  if (email !== '' && normalizeEmail(password) === normalizeEmail(email))
    return { pointer, detail: 'is your e-mail address; choose another' }
  if (new Set(normalizePassword(password)).size === 1)
    return { pointer, detail: 'is one character repeated; choose another' }
  return undefined
}

/** The normalised address; throws Problem `fields_invalid` with every fault of both. */
export function checkCredentials(email: string, password: string): string {
  const normal = newEmail(email)
  const errors: Fault[] = []
  if (normal === undefined) errors.push({ pointer: '/email', detail: 'must be an e-mail address' })
  const fault = passwordFault(password, email)
  if (fault) errors.push(fault)
  if (normal === undefined || errors.length > 0) {
    throw new Problem('fields_invalid', 'The e-mail address or the password cannot be used.', { errors })
  }
  return normal
}

// Passwords of eight or more characters that start every list of leaked passwords: guessed first, they protect nothing.
// Also refused with digits or punctuation around them (`password1`, `Welcome2026!`), the usual way to extend them.
const BASES = `
  password passw0rd p@ssword p@ssw0rd passwort motdepasse contrasena contraseña senha parola wachtwoord salasana haslo
  qwerty qwertyui qwertyuiop qwertz qwertzuiop azerty azertyuiop asdfghjk asdfghjkl zxcvbnm zaq1zaq1 zaq1xsw2 1qaz2wsx
  1qaz2wsx3edc qazwsx qazwsxedc q1w2e3r4 q1w2e3r4t5 1q2w3e4r 1q2w3e4r5t asdfqwer qweasdzxc qwerasdf
  welcome letmein changeme trustno1 iloveyou superman batman starwars football baseball basketball softball liverpool
  chelsea arsenal barcelona princess sunshine shadow dragon monkey michael jennifer jordan charlie master whatever
  computer internet samsung pokemon naruto minecraft killer secret default admin administrator root user guest test
  testing testtest login access server database system oracle postgres mysql influxdb clickhouse grafana docker stint
  summer winter autumn spring januar january december hello helloworld corvette mercedes maverick midnight cocacola
  blink182 metallica slipknot rockyou jonathan elizabeth victoria alexander christian nicholas benjamin abcdefgh
  abcdefghi abcd1234 abc12345 a1b2c3d4 aa123456 lovelove babygirl butterfly chocolate cheesecake danielle stephanie
  brittany friends forever family myspace1 freedom ladybug tinkerbell hannah montana spiderman scooby scoobydoo tigger
  12345678 123456789 1234567890 0123456789 87654321 987654321 0987654321 11111111 00000000 88888888 12341234 11223344
  12344321 123123123 123321123 147258369 159753159 123654789 741852963 789456123 1234qwer 12qwaszx 123qweasd 123abc123
`
  .trim()
  .split(/\s+/)

const COMMON = new Set(BASES)

/** Is it on the list, as it is or without the digits and punctuation at its ends, in any case? */
function isCommonPassword(password: string): boolean {
  const folded = password.normalize('NFC').toLowerCase()
  return COMMON.has(folded) || COMMON.has(folded.replace(/^[\d\W_]{0,4}|[\d\W_]{0,6}$/gu, ''))
}
