// The text of a command that failed, as `stint exec` sends it: how the command ended, then the end of its stderr.

const HOW = '(?:failed|exited with code \\d{1,3}|was ended by (?:SIG\\w{1,12}|signal \\d{1,3}))'
/** The first line: the command, and how it ended. */
export const ENDING = new RegExp(`^(\\S[^\\n]{0,255}?): ((?:timed out after [\\d.]{1,20} s and )?${HOW})$`)
