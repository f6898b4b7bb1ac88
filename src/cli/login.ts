// `stint login` and `stint logout`: one API key for this machine, in the settings file that every other command and
// cron read. The session that makes the key ends at once.
import { hostname } from 'node:os'
import type { Key, KeyAnswer, Keys } from '../wire/keys.ts'
import type { Session } from '../wire/sessions.ts'
import { type Api, createApi, Refusal } from './api.ts'
import {
  askAddress,
  askPassword,
  PASSWORD_STDIN,
  type PersonOptions,
  readFirstLine,
  warnUnencrypted,
} from './ask-person.ts'
import { type CliConfig, readCliConfig, readKey, saveSettings } from './config.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

interface Options extends PersonOptions {
  readonly key?: boolean
}

const SCOPES = ['write', 'read', 'manage'] as const

export function register(program: Program, io: Io): void {
  program
    .command('login')
    .description('make an API key for this machine and save it, for all commands')
    .argument('[url]', "Stint's address; without it STINT_URL, then the one that is saved")
    .option('--email <address>', 'your e-mail address, instead of a question')
    .option(...PASSWORD_STDIN)
    .option('--key', 'save a key from the console (on a terminal asked for, else from standard input)')
    .action(async (url: string | undefined, options: Options) => {
      const config = readCliConfig(url === undefined ? io.env : { ...io.env, STINT_URL: url })
      warnUnencrypted(io, config.url)
      if (options.key) {
        const secret = await askKey(io)
        await checkKey(io, config, secret)
        save(io, config, secret)
        return void io.stderr.write(`Saved the key for ${config.url} in ${config.settingsPath}.\n`)
      }
      const email = await askAddress(io, options)
      const password = await askPassword(io, options, 'Password', false)
      const { secret, account } = await makeKey(createApi(io, config), email, password)
      save(io, config, secret)
      io.stderr.write(
        `Made a key for the account ${oneLine(account.name)} at ${config.url} (${SCOPES.join(', ')}); it is saved in ` +
          `${config.settingsPath}.\n`,
      )
    })

  program
    .command('logout')
    .description('revoke the saved API key and remove it from this machine')
    .action(async () => {
      const config = readCliConfig({ HOME: io.env.HOME, XDG_CONFIG_HOME: io.env.XDG_CONFIG_HOME })
      const { apiKey, settingsPath, url } = config
      if (apiKey === undefined) return void io.stderr.write(`No key is saved in ${settingsPath}.\n`)
      const isRevoked = await revoke(createApi(io, config), apiKey)
      saveSettings(config, undefined)
      io.stderr.write(
        isRevoked
          ? `The key for ${url} is revoked and removed from ${settingsPath}.\n`
          : `The key is removed from ${settingsPath}. It may not revoke itself: revoke it in the console of ${url}.\n`,
      )
    })
}

/** Signs in, makes the key and signs out. Throws CliError. */
export async function makeKey(api: Api, email: string, password: string) {
  const { body, cookie } = await api.ask<Session>('POST', '/api/session', { email, password }).catch(withAdvice)
  const asSession = { cookie: cookie ?? '' }
  try {
    const wanted = { name: `stint on ${hostname()}`.slice(0, 100), scopes: SCOPES }
    const { key } = (await api.ask<KeyAnswer>('POST', '/api/keys', wanted, asSession).catch(withAdvice)).body
    return { secret: key.secret, account: body.account }
  } finally {
    await api.ask('DELETE', '/api/session', undefined, asSession)
  }
}

/** People without a password, and viewers, get no key that way. */
function withAdvice(error: unknown): never {
  if (error instanceof Refusal && ['password_sign_in_off', 'role_missing'].includes(error.code ?? ''))
    throw new CliError(
      `${error.message}\n  Get a key in the console, or from an owner, and run: stint login --key`,
      1,
      {
        cause: error,
      },
    )
  throw error
}

async function askKey(io: Io): Promise<string> {
  const text = io.isTerminal ? await io.readSecret('API key: ') : await readFirstLine(io, 'API key')
  return readKey('API key', text)!
}

/** Throws CliError if the server does not know the key. One that may not manage is refused for its scope. */
async function checkKey(io: Io, config: CliConfig, apiKey: string): Promise<void> {
  try {
    await createApi(io, { ...config, apiKey }).askWithKey('GET', '/api/keys')
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'scope_missing') throw error
  }
}

/** Saves a key for this machine. Throws CliError. */
export function save(io: Io, config: CliConfig, apiKey: string): void {
  saveSettings(config, apiKey)
  const { url, apiKey: used } = readCliConfig(io.env)
  if (url !== config.url || used !== apiKey)
    io.stderr.write('stint: warning: STINT_URL or STINT_API_KEY is set and goes before what is saved\n')
}

/** Returns whether the key is revoked now: a key may revoke itself if it has the scope `manage` and its creator. */
async function revoke(api: Api, secret: string): Promise<boolean> {
  try {
    const { keys } = await api.askWithKey<Keys>('GET', '/api/keys')
    const own = keys.find((key: Key) => key.revoked_at === null && secret.startsWith(key.prefix))
    if (own !== undefined) await api.askWithKey('DELETE', `/api/keys/${own.id}`)
    return own !== undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.code === 'key_invalid') return true // revoked before
    if (error.code === 'scope_missing' || error.code === 'role_missing') return false
    throw error
  }
}
