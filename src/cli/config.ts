// The settings of the command line, from the environment; the only place of this folder that reads it.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CliError, EXIT_USAGE, type Io } from './io.ts'

export interface CliConfig {
  /** Where Stint is, without a trailing slash. */
  readonly url: string
  /** For questions; sessions are for accounts and keys. */
  readonly apiKey: string | undefined
  readonly keyHeader: string
  /** Where sessions are kept. */
  readonly sessionPath: string
  /** Of the server on this machine, for the commands that work while it is stopped. */
  readonly dataDir: string
}

export const processEnv = (): Io['env'] => process.env

/** Throws CliError (usage) that names the variable and the rule. */
export function readCliConfig(env: Io['env']): CliConfig {
  const given = (name: string) => (env[name] === '' ? undefined : env[name])
  const configDir = given('XDG_CONFIG_HOME') ?? join(given('HOME') ?? homedir(), '.config')
  return {
    url: readUrl(given('STINT_URL') ?? 'http://127.0.0.1:7070'),
    apiKey: given('STINT_API_KEY') ?? readSecretFile('STINT_API_KEY_FILE', given('STINT_API_KEY_FILE')),
    keyHeader: `x-${given('SERVICE_NAME') ?? 'stint'}-api-key`,
    sessionPath: join(configDir, 'stint', 'session.json'),
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

function readSecretFile(name: string, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw new CliError(`${name}: the file ${path} cannot be read`, EXIT_USAGE, { cause })
  }
}
