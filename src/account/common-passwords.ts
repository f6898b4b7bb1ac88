// Passwords of eight characters and more that every list of leaked passwords begins with: guessed before any other, so they protect nothing.
// Bases are also refused with digits or punctuation around them (`password1`, `Welcome2026!`), which is what people add when asked to.

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
export function isCommonPassword(password: string): boolean {
  const folded = password.normalize('NFC').toLowerCase()
  return COMMON.has(folded) || COMMON.has(folded.replace(/^[\d\W_]{0,4}|[\d\W_]{0,6}$/gu, ''))
}
