// `stint start|end|metric|exception`: one event from a shell. An event that Stint does not take now is kept and sent
// later, with exit code 0: a script must not fail because Stint is away.
import { systemClock } from '../clock.ts'
import { endOfText } from '../wire/text-tail.ts'
import { readCliConfig } from './config.ts'
import { startFlush } from './exec/flush.ts'
import { formatUs } from './exec/job-events.ts'
import { openPendingEvents } from './exec/pending-events.ts'
import { type OutgoingEvent, sendEvent } from './exec/send-event.ts'
import { CliError, type Io } from './io.ts'
import { invalidArgument, type Program } from './program.ts'
import { oneLine } from './safe-text.ts'

interface Options {
  readonly meta?: string
  readonly uid?: string
  readonly failed?: boolean
}

type Items = Readonly<Record<string, number>>

/** A script waits at most this long. */
const TIMEOUT_MS = 5000
const EXCEPTION_CODE_POINTS = 15_000

export function register(program: Program, io: Io): void {
  const command = (name: string, about: string, uid: string) =>
    program
      .command(name)
      .description(about)
      .argument('<process>', 'name of the process')
      .option('--meta <text>', 'details about the process')
      .option('--uid <id>', uid)

  command(
    'start',
    'report that a run started, and print its uid',
    'uid of the run, a-z 0-9 - _; default: a new one',
  ).action((process: string, { uid = crypto.randomUUID(), ...options }: Options) =>
    send('start', { process, ...options, uid }, io, () => io.stdout.write(`${oneLine(uid)}\n`)),
  )

  command('end', 'report that a run ended', 'uid of the run, as stint start printed it')
    .option('--failed', 'the run failed')
    .action((process: string, options: Options) => send('end', { process, ...options }, io))

  command('metric', 'send metrics', 'uid of the run that they belong to')
    .argument('<name=value...>', 'up to 50 metrics, such as rows=120 "bytes read=1.5"', parseItem)
    .action((process: string, items: Items, options: Options) => send('metrics', { process, ...options, items }, io))

  command('exception', 'send the text of an exception', 'uid of the run that it belongs to')
    .argument('[text]', 'default: standard input, of which the last 15,000 characters are sent')
    .action(async (process: string, text: string | undefined, options: Options) => {
      const exception = text ?? endOfText(await io.readStdin(), EXCEPTION_CODE_POINTS)
      if (exception.trim() === '') throw new CliError('the text of the exception is empty: nothing was sent')
      await send('exception', { process, ...options, exception }, io)
    })
}

/** The name is what comes before the last `=`. */
function parseItem(text: string, others: Items = {}): Items {
  const at = text.lastIndexOf('=')
  const name = text.slice(0, at)
  const value = text.slice(at + 1).trim() // `wc -l` pads with spaces
  if (at < 1 || !/^[-+]?[\d.]+(?:e[-+]?\d+)?$/i.test(value) || !Number.isFinite(Number(value)))
    throw invalidArgument('Expected NAME=VALUE with a finite number, such as rows=120.')
  if (Object.hasOwn(others, name)) throw invalidArgument(`The metric ${JSON.stringify(name)} is named twice.`)
  return { ...others, [name]: Number(value) }
}

/** `onValid` is called unless the event is refused. Throws CliError if it is refused or lost. */
async function send(
  kind: OutgoingEvent['kind'],
  fields: OutgoingEvent['body'],
  io: Io,
  onValid?: () => void,
): Promise<void> {
  const { url, keyHeader, apiKey: key, stateDir } = readCliConfig(io.env)
  const event: OutgoingEvent = { kind, body: { ...fields, at: formatUs(systemClock.wallUs()) } }
  const pending = openPendingEvents(stateDir, () => crypto.randomUUID())
  const outcome = await sendEvent(event, { url, keyHeader, key }, io.fetch, AbortSignal.timeout(TIMEOUT_MS))
  if (outcome.is === 'refused') throw new CliError(oneLine(outcome.why))
  onValid?.()
  if (outcome.is === 'stored') {
    if (pending.list(url).length > 0) startFlush(stateDir, systemClock, io.env)
    return
  }
  const why = oneLine(outcome.why)
  try {
    pending.add([event], url, systemClock.wallUs())
  } catch (cause) {
    throw new CliError(`${why}; event lost: cannot write ${stateDir} (${(cause as NodeJS.ErrnoException).code})`, 1, {
      cause,
    })
  }
  startFlush(stateDir, systemClock, io.env, true)
  io.stderr.write(`stint: ${why}; event kept, sent later\n`)
}
