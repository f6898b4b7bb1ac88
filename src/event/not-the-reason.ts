// Lines of a failed command that are not its reason, although they name a fault: what points the reader elsewhere, and
// what says only that something ended. Each rule is about form and names the cases that it carries.
import { FAILED } from './fault-words.ts'

/** Gradle's `Check your code …`, pg_upgrade's `Please …`, esbuild's and Open MPI's `You can …`. */
const TELLS_READER =
  /^\W{0,20}(?:(?:please )?[a-z]{2,13} (?:that )?(?:you|your)\b|please [a-z]|you (?:can|may|might|could)(?! ?not|')\b)/i
const TELLS_WITHIN = 60
/** snakemake, SQLAlchemy: a line in parentheses. dvc: an address. serverless, httpd: where more can be read. */
const POINTS_AWAY = new RegExp(
  '^\\s*\\([a-z][^()]{1,300}\\)\\W?$|^\\s*<?\\w{2,10}:\\/\\/\\S{1,500}$' +
    '|^(?:view|visit|read|open) (?:the|more|about|our|this|how|why) .{0,200}:\\/\\/\\S{1,500}$' +
    '|^[^:;.]{0,80} more (?:details?|information)\\.?$',
  'i',
)

export const pointsElsewhere = (line: string): boolean =>
  ((line.includes('ou ') || line.includes('our ') || line.includes('lease ')) &&
    TELLS_READER.test(line.slice(0, TELLS_WITHIN))) ||
  ((line.endsWith(')') || line.includes('://') || line.includes(' more ')) && POINTS_AWAY.test(line))

/** Gradle, snakemake: the reason is in the output of another. */
const POINTS_AT = /\b(?:see|look) [^.;:]{0,40}\b(?:above|below|for (?:more )?(?:details?|information))\b/i
/** rsync, collect2: a code of its own. */
const OWN_CODE = /\(code \d{1,4}\) at \S{1,60}\(\d{1,6}\)|\b(?:returned|exited)(?: with)? \d{1,3} exit status\.?$/
/**
 * just, MSBuild, Turborepo, docker build, lerna, rsnapshot, syncoid, tox: a command ended with a code. In brackets or
 * behind a comma the code is added to a reason, but for Ghostscript's `Unrecoverable error, exit code 1`.
 */
const ENDED_WITH = new RegExp(
  '(?<!\\( ?|(?<!error)[,;] ?)\\b(?:exit(?:ed)?|returned(?! \\d{1,3}\\W{0,3}$)|fail(?:ed)?(?=: | code ))' +
    '(?: with)?(?: exit)?(?: (?:code|status))?:?' +
    ' {1,8}\\(?(?![45]\\d\\d)\\d{1,3}\\)?(?:\\W{0,3}$| \\(| (?:in|at|on|for|from|while) )',
  'i',
)
const ENDING_WORDS = ['xit', 'code ', 'returned ', 'ailed: ']
/** BIND, scons, `finished with errors`; Argo CD's `phase: Failed`; `Broken pipe`: its reader ended first. */
const ENDED_BADLY = new RegExp(
  '\\b(?:due to|because of|with|found) (?:an? |the |some |\\d{1,9} )?(?:errors?|failures?)(?:\\(s\\))?\\W{0,3}$' +
    '|[:=] {0,20}"?(?:failed|failure|error)\\W{0,3}$|\\bbroken pipe\\W{0,3}$',
  'i',
)
/** ninja's `build stopped: subcommand failed`, swift's `fatalError`: each clause says only that it failed. */
const ONLY_FAILED = new RegExp(
  '^(?:\\w{1,20}: {1,3}){0,2}(?:(?:^|: {1,3}|\\b)(?:(?:[\\w./\'`"-]{1,60} ){0,3}' +
    `(?:${FAILED})|(?:fatal|error|failure)+)\\W{0,3}){1,4}$`,
  'i',
)
const ONLY_FAILED_MAX = 120

export const saysOnlyThatItEnded = (line: string): boolean =>
  ((line.includes('(code ') || line.includes('exit status')) && OWN_CODE.test(line)) ||
  (ENDING_WORDS.some((word) => line.includes(word)) && ENDED_WITH.test(line)) ||
  ENDED_BADLY.test(line.slice(-50)) ||
  ((line.includes('ee ') || line.includes('ook ')) && POINTS_AT.test(line)) ||
  (line.length < ONLY_FAILED_MAX && ONLY_FAILED.test(line))

/** pg_upgrade's `Failure, exiting`, a script's `FAILED`: the line before it says more, whatever it says. */
const ONE_WORD = /^\W{0,3}(?:(?:error|failure|failed|fail|fatal|aborted|exiting)s?\W{0,3}){1,3}$/i

export const isOneWord = (line: string): boolean => ONE_WORD.test(line)
