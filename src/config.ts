// Environment → frozen Config, by the table of settings.ts. All problems are reported at once; secrets may come from a
// file (NAME_FILE).
import { DAY_US } from './parse-settings.ts'
import { followFile, type NoteSecret } from './secret.ts'
import { isFile, isPipe, readText, readTls } from './setting-files.ts'
import { findMisnamed } from './setting-names.ts'
import { type Config, isSetting, namesOf, SETTINGS, type Setting, settingNames } from './settings.ts'

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(readonly problems: readonly string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

type Env = Readonly<Record<string, string | undefined>>

const MIN_SPOOL_BYTES = 2 ** 20

/** Throws ConfigError. An empty variable counts as unset. */
export function readConfig(env: Env = process.env, note: NoteSecret = () => {}): Config {
  const problems: string[] = [...findMisnamed(env, settingNames()).refused]
  const raw = (name: string) => env[name] || undefined

  /** The text of a file; undefined when it cannot be used, which is reported. */
  function readFile(variable: string, path: string): string | undefined {
    if (raw(variable) !== undefined)
      problems.push(`${variable}: set together with ${variable}_FILE; set only one of them`)
    try {
      const text = readText(path).trim()
      if (text !== '') return text
      problems.push(`${variable}_FILE: the file is empty`)
    } catch (error) {
      problems.push(`${variable}_FILE: ${(error as Error).message}`)
    }
    return undefined
  }

  /** After a problem its default, or ''. `switchedBy`: the first variable of its group. */
  function read(setting: Setting<unknown>, switchedBy?: string): unknown {
    const { variable, unset, parse, rule, isHidden, isSecret } = setting
    const fallback = typeof unset === 'object' ? parse(unset.text) : unset === 'nothing' ? undefined : ''
    const path = isSecret ? raw(`${variable}_FILE`) : undefined
    const text = path === undefined ? raw(variable) : (readFile(variable, path) ?? '')
    if (text === undefined) {
      if (unset === 'fault') problems.push(`${variable}: required together with ${switchedBy}`)
      return fallback
    }
    const value = text === '' ? '' : parse(text) // '' is a file with a problem
    if (value === undefined) problems.push(`${variable}${isHidden ? '' : `=${JSON.stringify(text)}`}: must be ${rule}`)
    if (path === undefined || !isFile(path) || typeof value !== 'string' || value === '') return value ?? fallback ?? ''
    return followFile(
      path,
      value,
      (now) => parse(now) !== undefined,
      (isValid) => note(variable, isValid),
    )
  }

  /** A member that is set without the first one means that the first one was forgotten. */
  function readGroup(group: Readonly<Record<string, Setting<unknown>>>): unknown {
    const [first, ...others] = Object.values(group)
    const { variable } = first!
    if (namesOf(first!).some(raw))
      return Object.fromEntries(Object.entries(group).map(([key, setting]) => [key, read(setting, variable)]))
    for (const setting of others) {
      const given = namesOf(setting).filter(raw)
      if (!setting.mayBeAlone) problems.push(...given.map((name) => `${name}: is set, but ${variable} is not`))
      else if (given.length > 0) read(setting, variable)
    }
    return undefined
  }

  const values = Object.entries(SETTINGS).map(([key, it]) => [key, isSetting(it) ? read(it) : readGroup(it)])
  const config: Config = Object.fromEntries(values)
  problems.push(...problemsBetween(config))
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config)
}

/** Variables that set nothing and resemble a setting: a sentence for each. */
export const findSuspicious = (env: Env = process.env): readonly string[] =>
  findMisnamed(env, settingNames()).suspicious

/** Rules between several settings. */
function problemsBetween(config: Config): string[] {
  const { tls, passwordSignIn, oidc, retentionDays, maxRunUs, maxAgeUs, spoolMaxBytes } = config
  const problems: string[] = []
  if (tls?.keyPath && !isPipe(tls.certPath) && !isPipe(tls.keyPath)) {
    const read = readTls(tls)
    if ('problems' in read) problems.push(...read.problems)
  }
  if (!passwordSignIn && oidc === undefined)
    problems.push('PASSWORD_SIGN_IN=false: needs OIDC_ISSUER, or nobody could sign in')
  const [runDays, ageDays] = [(2 * maxRunUs) / DAY_US, maxAgeUs / DAY_US + 1]
  const retention = `RETENTION_DAYS=${retentionDays}: must be at least`
  if (retentionDays !== 0 && retentionDays < runDays)
    problems.push(`${retention} twice MAX_RUN (${runDays} days), or 0`)
  if (retentionDays !== 0 && retentionDays < ageDays)
    problems.push(
      `${retention} MAX_AGE and one day (${ageDays} days), or 0: the store would drop events that were accepted`,
    )
  if (spoolMaxBytes < MIN_SPOOL_BYTES) problems.push('SPOOL_MAX_BYTES: must be at least 1MiB')
  return problems
}
