// The text of a command that failed, as `stint exec` sends it: how the command ended, then the end of its stderr.

const HOW = '(?:exited with code \\d{1,3}|was ended by (?:SIG\\w{1,12}|signal \\d{1,3}))'
/** The first line: the command, and how it ended. */
export const ENDING = new RegExp(`^(\\S[^\\n]{0,255}?): ((?:timed out after [\\d.]{1,20} s and )?${HOW})$`)
/** A fault is explained at most so many lines before the end. */
export const LOOK_BACK = 10
const ERROR_WORDS =
  "error|fatal|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|invalid" +
  '|missing|undefined|exceeded|abort(?:ed|ing)?|panic|exception|unknown|unreachable|killed|critical|does not' +
  '|segmentation|corrupt(?:ed|ion)?|terminate called|time-?out|timed out|problem|exited|expired|rejected|non-zero' +
  '|violat(?:es|ion)|duplicate entry'
export const ERROR = new RegExp(`\\b(?:${ERROR_WORDS})\\b|^ *what\\(\\):|[a-z](?:Error|Exception|Timeout)\\b`, 'i')
const ORDINARY =
  /\b(?:INFO|DEBUG|TRACE|NOTICE|WARN(?:ING)?)\b|level=(?:info|debug|warn)|^\s*(?:info|debug|warn(?:ing)?)[: ]/

export const namesFault = (line: string): boolean => ERROR.test(line) && !ORDINARY.test(line)
