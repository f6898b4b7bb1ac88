// Words by which a line names a fault: of English, and of other languages whose tools are common. A text in any other
// language is still read: by the form of its lines, and by their order.

const ERROR_WORDS =
  "error|fatal|fail(?:ed|ure|s|ing)?|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|invalid" +
  '|missing|undefined|exceeded|abort(?:ed|ing)?|panic|exception|unknown|unreachable|killed|critical|does not' +
  '|segmentation|corrupt(?:ed|ion)?|terminate called|time-?out|timed out|problem|exited|expired|rejected|non-zero' +
  '|violat(?:es|ion)|duplicate entry|fehler\\w*|fehlgeschlagen|gescheitert|verweigert|erreurs?|errores|fallo|fallido' +
  '|denegad[oa]|errore|negat[oa]|erros?|falha|negad[oa]|fout|mislukt|geweigerd'
const LACK_WORDS =
  "no|not|none|nothing|never|without|nor|(?:do|does|did|is|are|was|were|has|have|had|wo|would)n't|full|empty|lost" +
  '|closed|locked|broken|bad|wrong|down|stale|dead|interrupted|insufficient|unexpected|unhealthy|unsupported' +
  '|unavailable|too (?:many|few|long|large|big|small|old)|out of|mismatch(?:ed)?|conflicts?|disconnected|reset by' +
  "|gone|nicht|kein\\w{0,2}|fehlt|fehlen|voll|pas|aucune?|impossible|n'existe|introuvable|hay|ningun\\w?|sin|falta" +
  '|puede|lleno|non|nessun\\w?|impossibile|nenhum\\w?|niet|geen|nie|brak|inte|ikke|ingen'

/** It failed, which is no reason. */
export const FAILED =
  'failed|failure|fails?|aborted|aborting|terminated|exited|exiting|halted|stopped|cancell?ed|unsuccessful|errored'
const OTHERS = '^ *what\\(\\):|[a-z](?:Error|Exception|Timeout)\\b'

/** Whole words, since a search for parts of words costs five times as much. */
export const ERROR = new RegExp(`\\b(?:${ERROR_WORDS})\\b|${OTHERS}`, 'i')
const LACK = new RegExp(`\\b(?:${LACK_WORDS})\\b`, 'i')
const ANY = new RegExp(`\\b(?:${ERROR_WORDS}|${LACK_WORDS}|${FAILED}|severe|alert|emerg)\\b|${OTHERS}`, 'i')
/** A line with any of the words below has a character beyond ASCII. */
const IS_FOREIGN = /[^\p{ASCII}]/u
const FOREIGN_ERROR =
  /échec|échoué|refusé|falló|błąd|błęd|odmow|ошибк|отказ|не удал|сбой|エラー|失敗|拒否|错误|錯誤|失败|拒绝|오류|실패|거부/i
const FOREIGN_LACK =
  /não |cheio|vazio|pełn|(?:^| )(?:не|нет|нельзя) |невозможно|ません|ない|できず|不足|不能|不可|无法|無法|没有|沒有|不存在|未|없|못|불가|부족/i

/** Whether the line names an error, or else that something is not as it should be. */
export function faultIn(line: string): 'error' | 'lack' | undefined {
  if (ERROR.test(line)) return 'error'
  const isForeign = IS_FOREIGN.test(line)
  if (isForeign && FOREIGN_ERROR.test(line)) return 'error'
  return LACK.test(line) || (isForeign && FOREIGN_LACK.test(line)) ? 'lack' : undefined
}

/** The line names either, or has one of the words of FAILED. */
export const mayFail = (line: string): boolean =>
  ANY.test(line) || (IS_FOREIGN.test(line) && (FOREIGN_ERROR.test(line) || FOREIGN_LACK.test(line)))
