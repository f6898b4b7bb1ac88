// Which line of what a failed command said is the reason. Each line gets a rank by its kind, never by its tool: at the
// top the lines that name a fault, at the bottom what points elsewhere, counts, helps, or shows where the program was.
// All patterns are bounded, so the cost is linear in the text.
import { FAILED, faultIn, mayFail } from './fault-words.ts'
import { isOneWord, pointsElsewhere, saysOnlyThatItEnded } from './not-the-reason.ts'
import { isDigit, isLetter } from './trace/trace.ts'

export const RANK = {
  /** A frame of a stack, an excerpt of source code, a ruler, an option of a usage. */
  place: 0,
  /** Usage, hints, counts, headings, and where more can be read. */
  aside: 1,
  /** Ordinary work: INFO, a share of work done, an indented line. */
  ordinary: 2,
  warning: 3,
  other: 4,
  /** `3 failed, 9 passed`, and a warning that names a fault. */
  count: 5,
  /** It failed, and not why: `Import failed`. */
  outcome: 6,
  /** Something is not as it should be: `no rows`, `cp: 'a': 没有那个文件`. */
  lack: 7,
  /** An error. */
  fault: 8,
  /** The same, behind a label: `ERROR: no rows`. */
  labelled: 9,
} as const

export interface Ranked {
  readonly line: string
  readonly rank: number
}

/** A fault is explained at most so many lines before the end; those below `other` do not count. */
const LOOK_BACK = 10
/** So many lines are looked at, whatever their rank. */
const SCANNED = 100

const oneOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join('|'), 'i')

const STAMP = /^\[?\d[\d:.,/TZ+ -]{6,40}\]?\s+/
const BULLET = /^[\s>*•●·✖✗×✘❌=|+-]{1,20}/
const LABELS = 'ERROR|FATAL|CRITICAL|SEVERE|ALERT|EMERG|FEHLER|ERREUR|ERRORE|ERRO|FOUT|ОШИБКА'
const LABEL = new RegExp(
  `^(?:${LABELS})[ :]\\s*(?:: )?|^\\w{0,20}:? ?[[<(](?:${LABELS}|error|fatal|critical|emerg|alert)[\\])>]:?\\s*` +
    '|^(?:\\w{1,20}: ?)?(?:[Ee]rror|[Ff]atal)(?:\\[\\w{1,10}\\])?: |^[a-z]{1,20} (?:error|ERR!) |^E: |^E\\d{4} ' +
    '|["\' ](?:level|severity)["\']?[:=] ?["\']?(?:error|fatal|critical|panic|[56]0\\b)',
)
const levelOf = (upper: string, lower: string, others: string): RegExp =>
  new RegExp(
    `\\b(?:${upper})\\b|(?:level|severity)["']?[:=] ?["']?(?:${lower})\\b|^\\s*\\[?(?:${lower})[\\]: ]|${others}`,
  )
const WARNING = levelOf('WARN(?:ING)?', 'warn(?:ing)?|40', '^W\\d{4} ')
const ORDINARY = levelOf('INFO|DEBUG|TRACE|NOTICE', 'info|debug|trace|notice|[123]0', '^[IN]\\d{4} |^N: ')
const PROGRESS = /\d ?%|(?:\d[\d.,:]{0,20}[a-zA-Z]{0,2}\s{1,20}){5}/

/** A ruler, carets, a border. */
const RULER = /^[^\p{L}\p{N}]*$/u
const PLACE = oneOf(
  '^\\s*(?:at|from|by|in|called from|raised (?:at|by)|re-?raised at)\\s+\\S.{0,300}?(?:[.:]\\d|\\bline \\d|\\()',
  '^\\s*#\\d{1,4}\\s.{0,300}?(?:[(/]|0x| in )',
  '^\\s*(?:\\[\\d{1,4}\\]|\\d{1,5}[:.])\\s+(?:[├└│─ ]{0,20}\\S{0,200}(?:::|\\w\\()|0x|\\S{1,200}$)',
  '^\\s*\\S{1,300}(?::\\d{1,7}){1,2}:? (?:in|at|by|0x)\\b',
  '^\\s*\\S{1,300}\\(\\d{1,7}\\)\\s\\S{1,200}$',
  '^\\s*(?:\\[\\w{1,3}\\]: in|@|-->|→)\\s',
  '\\bcalled (?:at|from) \\S{1,300}(?: line |:)\\d',
  '^\\s+\\S.{0,200}(?:\\bline \\d{1,7}\\S{0,3}(?: column \\d{1,7})?|\\w\\.\\w{1,5}(?::\\d{1,7}){1,2}\\)?),?' +
    '(?: (?:in|at) .{0,200})?$',
  '^\\s*\\d{1,6}:\\d{1,4} {2,}\\d|^\\?{2,}',
  '^\\s*\\d{1,6} ?[|│](?:\\s|$)|^\\s*"[^"]{1,300}"$', // source code
  '^\\s*-{1,2}[\\w?][\\w-]{0,40}(?:[ ,=\\t]|$)', // an option
)
const URL_OR_PATH = '(?:\\w{2,10}:\\/\\/|~?\\/|[A-Za-z]:\\\\|\\.{1,2}\\/)\\S{1,500}'
const SOME = '[^\\n]{0,300}'
const ASIDE = oneOf(
  '(?:stack ?trace(?:back)?|traceback|back ?trace|call ?stack|called from|while executing' +
    '|invoked from within)\\b.{0,40}$',
  '^\\s*(?:calls: .{0,200}|unhandled exception:|full report at:)$|^[=*#_-]{2,}.{0,80}[=*#_-]{2,}$',
  `^(?:\\[[^\\]]{1,20}\\] )?${URL_OR_PATH}$`,
  `^${SOME}(?:--help|\\bman \\d? ?[a-z]|--version)\\b`,
  '^(?:usage|utilisation|aufruf|verwendung|uso|modo de uso|gebruik|użycie|использование|kullanım|使い方|使用法|用法' +
    '|사용법) ?[:：]',
  '^(?:hint|help|notes?|tip|suggestions?|advice|context|options|commands|arguments|hinweis|tipp|astuce|conseil' +
    '|sugerencia|consejo|suggerimento|dica|ヒント|提示|힌트)(?: \\d+)? ?[:：]',
  '^(?:please )?(?:see|siehe|voir|cf\\.|vea|véase|consulte|vedi|veja|zie|zobacz|смотри|см\\.|refer to)\\b(?! failed)',
  `^(?:for|to|if|pour|para|um|für) ${SOME}\\b(?:see|run|use|re-?run|visit|read|try|type|add|pass|please|refer` +
    '|consult)\\b',
  '^did you mean|\\bcan be used to\\b|^learn more\\b|^more info',
)
/** The same, unless they name a fault. */
const ADVICE = oneOf(
  '^(?:please )?(?:try|run|re-?run|use|add|pass|retry|get|fix|enable|make sure|consider|install|type|ask|contact' +
    '|upgrade|update|read|visit|check|consult) (?:it|again|with|without|the|to|more|you|your|using|upstream' +
    '|\\S{1,40} (?:with|to|using)|\\S{1,40} --\\S+)\\b',
  '^(?:run|try|use|type) [\'`"„“«-]|^(?:please )?contact ',
  '^details? ?[:：]|^(?:an?|the|your)? ?(?:complete|full|detailed|more|further|additional|debug|build)? ?(?:logs?' +
    `|reports?|outputs?|details?|information|traces?|dumps?)\\b${SOME}\\b` +
    '(?:in|at|to|saved|written|found|available|under)\\b',
)
/** In any language: a place behind a word, or one file of a log behind a few. */
const POINTER = oneOf(
  `^\\S{1,20} ${URL_OR_PATH}$`,
  '^(?:\\S{1,30} |(?:[^\\s:]{1,30} ){0,4})\\S{0,3}(?:~?\\/|[A-Z]:\\\\)\\S{1,300}' +
    '\\.(?:log|txt|html?|out|err|edn)(?![\\w:])',
)

const COUNTED = '(?:errors?|fail(?:ed|ures?|ing)|warnings?|problems?|passed|skipped|succeeded|issues?|examples?|tests?)'
const FEW_WORDS = '(?: [^\\s\\d,:;]{1,40}){1,3}'
const COUNT = oneOf(
  `^(?![45]\\d\\d [A-Z])\\d[\\d.,]{0,20}${FEW_WORDS}(?:[,;:] \\d[\\d.,]{0,20}${FEW_WORDS}){0,9}` +
    '(?: in [\\d.]+ ?\\w{1,9})?[.:]?$',
  `^(?:[\\w ]{1,20}: +)?[^:]{0,40}?\\b\\d{1,9} (?:[a-z]{1,20} )?${COUNTED}\\b(?:\\(s\\))?` +
    '(?:[^:]{0,80}|: .{0,10}| in \\S{1,200})$',
  '^(?:\\S{1,60} ?: )?(?:[^=:"/]{1,40}[=:] ?\\d[\\d.,]{0,20}[a-z%]{0,2}[ ,;)]{0,8}){2,20}\\S{0,3}$',
  `^.{0,20}\\(?${COUNTED}[=:] ?\\d+\\)?$|^(?:rows|lines|files|records|total|count)[=:] ?\\d+$`,
  '^(?:elapsed|real|user|sys|(?:total |elapsed )?time|duration|took)\\b[\\w ]{0,20}[:\\s] ?[\\d:.]{1,12} ?\\w{0,9}',
  `^(?:one|two|three) ${COUNTED} (?:found|generated)|\\b(?:no|0|zero) ${COUNTED}\\b`,
)
const OUTCOME = oneOf(
  '\\b(?:due to|because of|see|after) (?:the )?(?:\\d+ )?(?:previous|above|earlier|prior|preceding)\\b',
  'vorherige|précédent|anteriores|precedenti|vorige fout|wcześniejsz|возникши|предыдущ|前の|以前的|이전',
  '\\*{3} \\[', // make
  '^\\W{0,3}(?:\\w{0,20}fail\\w{0,3}|error)\\W{0,3}\\s\\S{1,200}(?:\\s+\\(?[\\d.]+ ?m?s\\)?)?$',
  '^(?:\\([^)]{1,60}\\) )?(?:\\w{1,20}[: ] ?){0,2}\\W{0,3}(?:the )?(?:[\\w./\'`"-]{1,60} ){0,3}' +
    `(?:has |have |was |were |is |did )?(?:${FAILED})[.!]?(?: with(?: an?)?(?: non-zero)?` +
    '(?: errors?| exception| (?:exit |error |status )*(?:code|status)? ?\\d{0,3}| failure){0,3})?' +
    '(?: (?:at|on|in|after) (?:line )?[\\d.]+ ?\\w{0,8})?\\W{0,5}$',
  '^\\W{0,3}(?:\\w{1,20}: )?(?:error|failure|failed|fail|fatal|aborted)s?\\W{0,5}$',
  '^(?:\\w{1,20}: )?(?:command |process |script )?(?:terminated |exited |finished )?(?:with )?' +
    '(?:exit|return|error|status)(?:ed)? ?(?:status|code)?[: ]+\\d{1,3}\\W{0,3}$',
  '^there (?:was|were) (?:an? |some )?errors?\\W{0,3}$',
)
/** A tool names subject and reason: `cp: /srv/a: Keine Berechtigung`; a compiler a place: `rows.go:9: want 3 rows`. */
const FORM = /^[\w.()/-]{1,40} ?: ?\S.{0,400}?[\S ]: {1,5}\S|^\S{1,200}\.\w{1,5}:\d{1,7}(?::\d{1,7})?: \S/

// What the rules of v5 add: each is about form, and names the cases that it carries.

/** AddressSanitizer, Valgrind: the process between equals signs. */
const PROCESS = /^==\d{1,10}==\s*/
/**
 * jest's `Expected: 1`, javac's `symbol: …`, Terraform's lock, PowerShell's `+ CategoryInfo : …`: an indented
 * `Name: value` is a detail, unless it says why.
 */
const DETAIL = /^\s+(?:\+ )?([\p{L}\w][^:\n]{0,30}?) {0,20}: {1,30}\S/u
const SAYS_WHY = /reason|message|msg|cause|detail|description|exception|because|why|what/i
/** Perl's `at job.pl line 3.` behind what it says; Valgrind's `(suppressed: 0 from 0)` and tox's `(1.31 seconds)`. */
const BEHIND = / (?:at \S{1,200} line \d{1,7}\.?|\([\w ]{1,30}: ?\d[^()]{0,60}\)|\([\d.]{1,9} ?[a-z]{1,9}\))$/
/** tsc under lerna, MSBuild, gcc: a place is a label, too. */
const BEHIND_PLACE = /^\S{1,100}[:)]:? (?:fatal )?error(?: \w{1,10})?: /
/** zerolog (gitleaks, cloudflared), Serilog: a level of three letters, behind the time or first. */
const SHORT_LEVEL = /^(?:\[?\d[\d:.,/TZ+APM -]{3,40} )?(WRN|INF|DBG|TRC|ERR|FTL)\]? /
const LEVELS: Readonly<Record<string, string>> = {
  WRN: 'WARN',
  INF: 'INFO',
  DBG: 'DEBUG',
  TRC: 'TRACE',
  ERR: 'ERROR',
  FTL: 'FATAL',
}
/** shellcheck, rustc: what stands behind carets names the fault there. */
const CARETS = /^[\s|]{1,60}\^[\^~-]{0,60} {1,5}\S{1,60} \S/

/** minitest's `Failure:`, SQL*Plus' `ERROR:`, Pulumi's `1 error occurred:`: what failed stands on the next line. */
const HEADS_FAULT =
  /^\W{0,3}(?:\w{1,20}:? )?(?:error|failure|failed|fatal)s?(?: \d{1,4})?:$|(?:^|[: ])\d{1,4} errors? occurred:$/i

/** The rank of one line by itself; `isFormer`: as 2.0 ranked it. */
function rankLine(line: string, isFormer: boolean): number {
  if (isFormer) return rankByWords(line)
  const detail = isIndented(line) && line.includes(': ') ? DETAIL.exec(line)?.[1] : undefined
  if (detail !== undefined && !SAYS_WHY.test(detail) && !faultIn(detail)) return RANK.ordinary
  if (line.includes('^') && CARETS.test(line)) return RANK.lack
  const own = line.startsWith('==') ? line.replace(PROCESS, '') : withLongLevel(line)
  const bare = own.endsWith(')') || own.includes(' line ') ? own.replace(BEHIND, '') : own
  if (pointsElsewhere(bare)) return RANK.aside
  const rank = rankByWords(bare)
  if (rank === RANK.outcome && isOneWord(bare)) return RANK.ordinary
  if (rank > RANK.outcome && saysOnlyThatItEnded(bare)) return RANK.outcome
  return rank === RANK.fault && bare.includes(': error') && BEHIND_PLACE.test(bare.slice(0, 130)) ? RANK.labelled : rank
}

function withLongLevel(line: string): string {
  const mayHave = line.slice(0, 3) in LEVELS || isDigit(line.charCodeAt(line.startsWith('[') ? 1 : 0))
  const found = mayHave ? SHORT_LEVEL.exec(line) : null
  return found === null ? line : `${LEVELS[found[1]!]}: ${line.slice(found[0].length)}`
}

const isIndented = (line: string): boolean => line.startsWith(' ') || line.startsWith('\t')

function rankByWords(line: string): number {
  const bare = (isDigit(line.charCodeAt(line.startsWith('[') ? 1 : 0)) ? line.replace(STAMP, '') : line).trimEnd()
  const label = LABEL.exec(bare)
  if (label === null) {
    if (PLACE.test(bare)) return RANK.place
    if (ORDINARY.test(bare)) return RANK.ordinary
    if (WARNING.test(bare)) return faultIn(bare) ? RANK.count : RANK.warning
  }
  const rest = label?.index === 0 ? bare.slice(label[0].length) : bare
  const said = isLetter(rest.charCodeAt(0)) ? rest : rest.replace(BULLET, '')
  if (said === '' || (!isLetter(said.charCodeAt(0)) && RULER.test(said)) || (label !== null && PLACE.test(said)))
    return RANK.place
  const fault = faultIn(said)
  const fails = fault === 'error'
  if (ASIDE.test(said) || (!fails && ADVICE.test(said)) || (!fault && POINTER.test(said))) return RANK.aside
  if (said.endsWith(':') || said.endsWith('：')) return fails ? RANK.outcome : RANK.aside
  if (COUNT.test(said)) return fails ? RANK.count : RANK.aside
  if (OUTCOME.test(said)) return RANK.outcome
  if (label !== null) return fault ? RANK.labelled : RANK.fault
  if (fails) return RANK.fault
  if (fault || FORM.test(said)) return RANK.lack
  return PROGRESS.test(said) || /^\s/.test(bare) ? RANK.ordinary : RANK.other
}

/** Every line of the rank `outcome` or above names a fault, or has one of these. */
const SIGN = new RegExp(`^E(?:: |\\d{4} )|[: "'][56]0\\b|${FORM.source}`)
const isTelling = (line: string): boolean => mayFail(line) || SIGN.test(line.trimStart())

/** A heading is the label of the line below it, unless that is a count or a number in a list. */
const rankBelowHeading = ({ line, rank }: Ranked): number =>
  rank >= RANK.lack ? RANK.labelled : isDigit(line.trimStart().charCodeAt(0)) ? RANK.lack : RANK.fault

/**
 * The last lines of the text that say something, in its order. A line above the last two of the rank `other` gets that
 * rank although its own may be lower: it makes no difference. `isFormer`: as 2.0 ranked them.
 */
export function rankLines(lines: readonly string[], isFormer = false): Ranked[] {
  const found: Ranked[] = []
  let telling = 0
  for (let i = lines.length - 1; i >= 0 && i >= lines.length - SCANNED && telling < LOOK_BACK; i--) {
    const line = lines[i]!
    if (line.trim() === '') continue
    const isRead = telling < 2 || isTelling(line)
    const rank = isRead ? rankLine(line, isFormer) : PLACE.test(line) ? RANK.place : RANK.other
    // Below an error may stand a table of details, as long as it likes: Terraform's lock.
    if (rank >= RANK.other && (isFormer || !isIndented(line))) telling++
    const below = found.at(-1)
    if (!isFormer && below !== undefined && line.endsWith(':') && HEADS_FAULT.test(line))
      found[found.length - 1] = { line: below.line, rank: rankBelowHeading(below) }
    found.push({ line, rank })
  }
  return found.reverse()
}

/** The last of the lines with the highest rank; undefined if none says anything. */
export function reasonOf(lines: readonly string[]): string | undefined {
  const ranked = rankLines(lines)
  const best = Math.max(RANK.aside, ...ranked.map(({ rank }) => rank))
  const last = ranked.findLastIndex(({ rank }) => rank === best)
  const above = ranked.slice(0, Math.max(0, last)).findLast(({ rank }) => rank === best)
  return best === RANK.other && above !== undefined && CLOSES.test(ranked[last]!.line) && NAMED.test(above.line)
    ? above.line
    : ranked[last]?.line
}

/** In any language: `Hiba: az árfolyamfájl nem található` above the last line `Vége`. */
const NAMED = /^[\p{L}\p{M}]{2,30} ?[:：] ?(?:\p{L}\S{0,60} \S|[^\0-\u0dff]{6})/u
const CLOSES = /^[\p{L}\p{M}]{1,30}(?: [\p{L}\p{M}]{1,30}){0,2}[.!]?$/u
