// The settings of the command line, from the environment and a settings file; only here the environment is read.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { findHomes, type Home } from '../client/homes.ts'
import { CliError, EXIT_REFUSED, EXIT_USAGE, type Io } from './io.ts'

export interface CliConfig {
  /** Stint's address, without a trailing slash. */
  readonly url: string
  readonly apiKey: string | undefined
  readonly keyHeader: string
  /** Readable by the user alone. */
  readonly settingsPath: string
  /** Where events are kept that Stint has not acknowledged. */
  readonly backlogHomes: readonly Home[]
  /** Data of the server on this machine, for commands that work while it is stopped. */
  readonly dataDir: string
}

interface Settings {
  readonly url?: string
  readonly api_key?: string
  readonly service?: string
}

const DEFAULT_URL = 'http://127.0.0.1:7070'
const FIELDS = ['url', 'api_key', 'service']

/**
 * The environment as our caller set it. Bun adds the variables of an `.env` file in the working directory: in a
 * stranger's directory that file could name a server of theirs, which would get our key.
 */
export function processEnv(): Io['env'] {
  let given: string
  try {
    given = readFileSync('/proc/self/environ', 'utf8')
  } catch {
    return process.env // no /proc here
  }
  const names = new Set(given.split('\0').map((entry) => entry.split('=', 1)[0]))
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => names.has(name)))
}

/**
 * The environment comes before the settings file, whose key goes only to the file's own `url`; with address and key in
 * the environment the file need not be readable. `withoutKey`: the key is not read. Throws CliError (usage) that names
 * the variable or file and the rule.
 */
export function readCliConfig(env: Io['env'], { withoutKey = false } = {}): CliConfig {
  const given = (name: string) => (env[name] === '' ? undefined : env[name])
  const home = given('HOME') ?? homedir()
  // The XDG rules: a path that is not absolute is ignored.
  const base = (name: string, fallback: string) => {
    const path = given(name)
    return path !== undefined && isAbsolute(path) ? path : join(home, fallback)
  }
  const configDir = base('XDG_CONFIG_HOME', '.config')
  const settingsPath = join(configDir, 'stint.json')
  const isComplete = given('STINT_URL') !== undefined && (given('STINT_API_KEY') ?? given('STINT_API_KEY_FILE'))
  const settings = isComplete ? tryReadSettings(settingsPath) : readSettings(settingsPath, !withoutKey)
  const fileUrl = settings.url === undefined ? undefined : readUrl(`url in ${settingsPath}`, settings.url)
  const url = readUrl('STINT_URL', given('STINT_URL') ?? fileUrl ?? DEFAULT_URL)

  function readApiKey(): string | undefined {
    const path = given('STINT_API_KEY_FILE')
    return (
      readKey('STINT_API_KEY', given('STINT_API_KEY')) ??
      readKey('STINT_API_KEY_FILE', path && readSecretFile(path)) ??
      (fileUrl === undefined || fileUrl === url ? readKey(`api_key in ${settingsPath}`, settings.api_key) : undefined)
    )
  }
  const service = () =>
    readService('STINT_SERVICE', given('STINT_SERVICE')) ??
    readService('SERVICE_NAME', given('SERVICE_NAME')) ??
    readService(`service in ${settingsPath}`, settings.service)
  return {
    url,
    apiKey: withoutKey ? undefined : readApiKey(),
    keyHeader: `x-${(withoutKey ? undefined : service()) ?? 'stint'}-api-key`,
    settingsPath,
    backlogHomes: findHomes(given, home),
    dataDir: given('DATA_DIR') ?? './data',
  }
}

/** Empty if there is no such file. `isPrivate` refuses a file that other users can read. */
function readSettings(path: string, isPrivate: boolean): Settings {
  let settings: unknown
  try {
    const text = readFileSync(path, 'utf8')
    // Windows has no such mode bits.
    if (isPrivate && process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
      throw new CliError(`invalid settings file: other users have access to ${path}; run chmod 600 ${path}`, EXIT_USAGE)
    settings = JSON.parse(text)
  } catch (cause) {
    if (cause instanceof CliError) throw cause
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    const why = cause instanceof SyntaxError ? 'invalid JSON' : (code ?? cause)
    throw new CliError(`cannot read settings file ${path}: ${why}`, EXIT_USAGE, { cause })
  }
  if (isSettings(settings)) return settings
  throw new CliError(`invalid settings file ${path}: expected an object with url, api_key and service only`, EXIT_USAGE)
}

/**
 * Saves the address and its key in the settings file; without a key removes it there. The service of another address is
 * not kept. Throws CliError.
 */
export function saveSettings({ url, settingsPath }: CliConfig, apiKey: string | undefined): void {
  const { service, ...before } = readSettings(settingsPath, true)
  const hasService = service !== undefined && (before.url === undefined || readUrl('url', before.url) === url)
  const settings: Settings = { url, ...(apiKey && { api_key: apiKey }), ...(hasService && { service }) }
  const fresh = `${settingsPath}.${process.pid}`
  try {
    mkdirSync(dirname(settingsPath), { recursive: true, mode: 0o700 })
    writeFileSync(fresh, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 })
    renameSync(fresh, settingsPath)
  } catch (cause) {
    throw new CliError(`cannot save the key: ${settingsPath} cannot be written`, EXIT_REFUSED, { cause })
  }
}

function tryReadSettings(path: string): Settings {
  try {
    return readSettings(path, true)
  } catch {
    return {}
  }
}

const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(([name, member]) => FIELDS.includes(name) && typeof member === 'string')

function readUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new CliError(`invalid ${name}: expected an address such as ${DEFAULT_URL}`, EXIT_USAGE)
  }
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** Checked here: a key that cannot stand in a header would look as if Stint were away. It is never shown. */
export function readKey(name: string, text: string | undefined): string | undefined {
  const key = text?.trim()
  if (key === undefined || /^[!-~]+$/.test(key)) return key
  throw new CliError(`invalid ${name}: expected one key and nothing else`, EXIT_USAGE)
}

function readService(name: string, text: string | undefined): string | undefined {
  if (text === undefined || /^[a-z0-9-]+$/i.test(text)) return text
  throw new CliError(`invalid ${name}: expected the server's SERVICE_NAME, made of letters, digits and -`, EXIT_USAGE)
}

function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CliError(`cannot read STINT_API_KEY_FILE: file ${path}`, EXIT_USAGE, { cause })
  }
}
