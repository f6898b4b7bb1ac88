// Reads a cron expression: five fields, or six with seconds first, and `@daily` etc. What other schedulers write and
// Stint does not understand is refused with the reason, rather than read in another way.

interface CronExpression {
  /** As croner reads it. */
  readonly pattern: string
  /** Both day fields must agree, because one of them begins with `*`; otherwise either is enough. */
  readonly areDaysJoined: boolean
  /** An hour that comes twice counts twice. */
  readonly isRepeated: boolean
}

interface Field {
  readonly name: string
  readonly least: number
  readonly most: number
  /** It may be left open with `?`. */
  readonly isDay?: true
}

const FIELDS: readonly Field[] = [
  { name: 'seconds', least: 0, most: 59 },
  { name: 'minutes', least: 0, most: 59 },
  { name: 'hours', least: 0, most: 23 },
  { name: 'days', least: 1, most: 31, isDay: true },
  { name: 'months', least: 1, most: 12 },
  { name: 'weekdays', least: 0, most: 7, isDay: true },
]
const [MINUTE, HOUR, DAY, WEEKDAY] = [1, 2, 3, 5] as const

const NICKNAMES: { readonly [name: string]: string } = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Throws an Error whose message completes "the expression …". Croner finds what remains. */
export function readCron(expression: string): CronExpression {
  const given = expression.trim()
  const nickname = NICKNAMES[given.toLowerCase()]
  const fields = (nickname ?? given).split(/\s+/)
  if (nickname === undefined) assertPlain(given, fields)
  const all = fields.length === 6 ? fields : ['0', ...fields]
  const parts = all.map((text, i) => readField(text, FIELDS[i]!))
  const begins = (i: number) => all[i]!.startsWith('*')
  const hasBothDays = [DAY, WEEKDAY].every((i) => !/^[*?]$/.test(all[i]!))
  return {
    pattern: parts.join(' '),
    areDaysJoined: hasBothDays && (begins(DAY) || begins(WEEKDAY)),
    isRepeated: begins(MINUTE) || begins(HOUR),
  }
}

/** What is another kind of line. */
function assertPlain(given: string, fields: readonly string[]): void {
  if (/^(CRON_)?TZ=/i.test(given)) throw new Error('begins with a time zone, which belongs in tz')
  if (/^@every\b/i.test(given)) throw new Error('is an interval: use every instead of cron')
  if (/^@reboot$/i.test(given)) throw new Error('has no time: @reboot is due when a machine starts')
  if (given.startsWith('@')) throw new Error(`has an unknown name; known are ${Object.keys(NICKNAMES).join(', ')}`)
  if (fields.some((text) => /^H([/(]|$)/.test(text)))
    throw new Error('has an H, with which Jenkins chooses a time: write the time that it chose')
  if (fields.length === 7)
    throw new Error('has seven fields: the last one is the year of Quartz or AWS, which cannot be given')
  if (fields.length === 6 && (fields[4] === '?' || fields[2] === '?'))
    throw new Error(
      'has six fields with minutes first, as AWS EventBridge has them: omit the last one, the year. ' +
        'Here the first of six fields is the seconds',
    )
  if (fields.length === 6 && /^[a-z_][a-z0-9_-]*$/i.test(fields[5]!) && !isWeekday(fields[5]!))
    throw new Error(`has the user ${fields[5]} in a sixth column, as lines of /etc/cron.d have it: omit it`)
  if (fields.length !== 5 && fields.length !== 6)
    throw new Error('must be a cron expression of five fields, or six with seconds first')
}

const isWeekday = (text: string): boolean => /^(sun|mon|tue|wed|thu|fri|sat|L)/i.test(text)

/** `N/step` is `N-most/step`, as everywhere but in croner. */
function readField(text: string, field: Field): string {
  const { name, most, isDay } = field
  if (text === '?' && !isDay) throw new Error(`has ? in its ${name}: only the days and the weekdays can be left open`)
  return text
    .split(',')
    .map((item) => {
      const [range = '', step] = item.split('/')
      assertRange(range, field)
      return step !== undefined && /^\d+$/.test(range) ? `${range}-${most}/${step}` : item
    })
    .join(',')
}

function assertRange(range: string, { name, least, most }: Field): void {
  const [from, to = from] = range.split('-').map((text) => (/^\d+$/.test(text) ? Number(text) : undefined))
  for (const value of [from, to])
    if (value !== undefined && (value < least || value > most))
      throw new Error(`is invalid: ${name} go from ${least} to ${most}`)
  if (from === undefined || to === undefined || from <= to) return
  const [upper, lower] = [from === most ? `${from}` : `${from}-${most}`, to === least ? `${to}` : `${least}-${to}`]
  throw new Error(`has a range that goes backwards: write ${upper},${lower} instead of ${range}`)
}
