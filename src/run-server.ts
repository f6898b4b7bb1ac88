// The server's process: arguments (it takes none) → config → service → signals. The only place that ends it.
import { systemClock } from './clock.ts'
import { ConfigError, findSuspicious, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { type Service, startService } from './service.ts'
import type { Config } from './settings.ts'
import { COMMAND_LINE } from './version.ts'

/** The longest that stopping takes after STOP_DELAY, whatever stores and clients do; acknowledged events are safe. */
const STOP_WITHIN_MS = 9_500

/** One Ctrl-C arrives twice: from the terminal and from `bun run`, which passes it on. */
const SAME_REQUEST_US = 1_000_000

const USAGE = `Usage: bun run start

Starts the Stint server. Settings are environment variables such as PORT=8080; see "Settings" in README.md.
Command line: ${COMMAND_LINE.command} --help`

/** Before anything is read or created: who asks for help or mistypes an option does not want a server. */
function exitOnArguments([argument]: readonly string[]): void {
  if (argument === undefined) return
  if (argument === '--help' || argument === '-h') {
    console.log(USAGE)
    process.exit(0)
  }
  console.error('The Stint server takes no arguments; --help shows how to configure it.')
  process.exit(2)
}

function noteSecret(variable: string, isValid: boolean): void {
  if (isValid) log.info({ variable }, 'the file of a secret has changed: the new one is used')
  else log.error({ variable }, 'the file of a secret has changed and is invalid: the secret before it is used')
}

function configOrExit(): Config {
  try {
    return readConfig(undefined, noteSecret)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(error.message)
    process.exit(2)
  }
}

exitOnArguments(process.argv.slice(2))
const config = configOrExit()
const log = createLog({ level: config.logLevel, pretty: process.stdout.isTTY })
for (const text of findSuspicious()) log.warn(text)

// Nothing that arrives may end the process: an error that nobody caught is a bug; it is logged, and the rest continues.
process.on('uncaughtException', (err) => log.error({ err }, 'uncaught exception'))
process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled rejection'))

let stoppingSinceUs: number | undefined
async function stop(signal: string) {
  const nowUs = systemClock.monotonicUs()
  if (stoppingSinceUs !== undefined) {
    if (nowUs - stoppingSinceUs < SAME_REQUEST_US) return
    log.warn({ signal }, 'second signal: stopping at once')
    process.exit(1)
  }
  stoppingSinceUs = nowUs
  log.info({ signal }, 'stopping')
  const late = setTimeout(
    () => {
      log.warn('stopping took too long: exiting now; events that are not stored yet stay in the spools')
      process.exit(0)
    },
    config.stopDelayUs / 1000 + STOP_WITHIN_MS,
  )
  const service = await starting // it may listen already
  await service.stop()
  clearTimeout(late)
  log.info('stopped')
  process.exit(0)
}
process.on('SIGTERM', () => void stop('SIGTERM'))
process.on('SIGINT', () => void stop('SIGINT'))
process.on('SIGHUP', () => {
  if (process.stdout.isTTY) return void stop('SIGHUP') // its terminal was closed
  log.info('files of secrets are read again when they are used, other settings at a restart')
})

const starting: Promise<Service> = startService(config, systemClock, log)
try {
  await starting
} catch (error) {
  log.fatal(error instanceof Error ? error.message : String(error))
  log.debug({ err: error }, 'the start failed')
  process.exit(1)
}
