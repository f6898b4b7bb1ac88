// The settings of the command line, from the environment; the only place of this folder that reads it.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { CliError, EXIT_USAGE, type Io } from './io.ts'

export interface CliConfig {
  /** Where Stint is, without a trailing slash. */
  readonly url: string
  /** For questions; sessions are for accounts and keys. */
  readonly apiKey: string | undefined
  readonly keyHeader: string
  /** Where sessions are kept. */
  readonly sessionPath: string
  /** Where events wait that Stint has not taken yet. */
  readonly stateDir: string
  /** Of the server on this machine, for the commands that work while it is stopped. */
  readonly dataDir: string
}

/**
 * The environment as whoever started us made it. Bun adds what an `.env` file in the working directory says: in somebody else's
 * directory that could name a server of theirs to send our key to.
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

/** Throws CliError (usage) that names the variable and the rule. */
export function readCliConfig(env: Io['env']): CliConfig {
  const given = (name: string) => (env[name] === '' ? undefined : env[name])
  const home = given('HOME') ?? homedir()
  // The XDG rules: a path that is not absolute counts as none.
  const base = (name: string, fallback: string) => {
    const path = given(name)
    return path !== undefined && isAbsolute(path) ? path : join(home, fallback)
  }
  return {
    url: readUrl(given('STINT_URL') ?? 'http://127.0.0.1:7070'),
    apiKey:
      readKey('STINT_API_KEY', given('STINT_API_KEY')) ??
      readKey('STINT_API_KEY_FILE', readSecretFile('STINT_API_KEY_FILE', given('STINT_API_KEY_FILE'))),
    keyHeader: `x-${
      readService('STINT_SERVICE', given('STINT_SERVICE')) ??
      readService('SERVICE_NAME', given('SERVICE_NAME')) ??
      'stint'
    }-api-key`,
    sessionPath: join(base('XDG_CONFIG_HOME', '.config'), 'stint', 'session.json'),
    stateDir: join(base('XDG_STATE_HOME', '.local/state'), 'stint'),
    dataDir: given('DATA_DIR') ?? './data',
  }
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new CliError('STINT_URL must be an address such as http://127.0.0.1:7070', EXIT_USAGE)
  }
  return (url.origin + url.pathname).replace(/\/+$/, '')
}

/** What cannot stand in a header would look as if no Stint were there. The key itself is never shown. */
function readKey(name: string, text: string | undefined): string | undefined {
  const key = text?.trim()
  if (key === undefined || /^[!-~]+$/.test(key)) return key
  throw new CliError(`${name} must hold one key and nothing else`, EXIT_USAGE)
}

function readService(name: string, text: string | undefined): string | undefined {
  if (text === undefined || /^[a-z0-9-]+$/i.test(text)) return text
  throw new CliError(`${name} must be the SERVICE_NAME of the server: letters, digits and -`, EXIT_USAGE)
}

function readSecretFile(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new CliError(`${name}: the file ${path} cannot be read`, EXIT_USAGE, { cause })
  }
}
