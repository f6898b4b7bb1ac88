// `stint start|end|metric|exception`: one event from a shell. An event that Stint does not take now is kept and sent
// later, with exit code 0: a script must not fail because Stint is away.
import { openBacklog } from '../client/backlog.ts'
import { formatUs } from '../client/event-times.ts'
import { systemClock } from '../clock.ts'
import { toUid } from '../wire/run-id.ts'
import { endOfText } from '../wire/text-tail.ts'
import { readCliConfig } from './config.ts'
import { describeUnwritable } from './exec/report-job.ts'
import { createBatchSender, formatEvent, type OutgoingEvent } from './exec/send-batch.ts'
import { sendKept } from './exec/send-kept.ts'
import { CliError, EXIT_REFUSED, type Io } from './io.ts'
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
/** For what was kept earlier, after the event is stored. */
const KEPT_MS = 1000
const EXCEPTION_CODE_POINTS = 15_000

export function register(program: Program, io: Io): void {
  const command = (name: string, about: string, uid: string) =>
    program
      .command(name)
      .description(about)
      .argument('<process>', 'name of the process')
      .option('--meta <text>', 'details about the process')
      .option('--uid <id>', uid, toUid)

  command(
    'start',
    'report that a run started, and print its uid',
    'id of the run, such as the scheduler’s; default: a new one',
  ).action((process: string, { uid = crypto.randomUUID(), ...options }: Options) =>
    send('start', { process, ...options, uid }, io, () => {
      io.stdout.write(`${oneLine(uid)}\n`)
      // a script reads the uid; a person would end another run without it
      const same = options.meta === undefined ? 'process' : 'process and --meta'
      if (io.stdout.isTTY) io.stderr.write(`End this run with the same ${same}, and --uid ${oneLine(uid)}\n`)
    }),
  )

  command('end', 'report that a run ended', 'id of the run, as stint start had or printed it')
    .option('--failed', 'the run failed')
    .action((process: string, options: Options) => send('end', { process, ...options }, io))

  command('metric', 'send metrics', 'id of the run that they belong to')
    .argument('<name=value...>', 'up to 50 metrics, such as rows=120 "bytes read=1.5"', parseItem)
    .action((process: string, items: Items, options: Options) => send('metrics', { process, ...options, items }, io))

  command('exception', 'send the text of an exception', 'id of the run that it belongs to')
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
  const { url, keyHeader, apiKey: key, backlogHomes } = readCliConfig(io.env)
  const say = (line: string) => io.stderr.write(`stint: ${oneLine(line)}\n`)
  const text = formatEvent({ kind, body: { ...fields, at: formatUs(systemClock.wallUs()) } })
  const backlog = openBacklog(backlogHomes, url, key ?? '')
  const sender = createBatchSender({ url, keyHeader, key }, io.fetch, systemClock)
  const [outcome] = await sender.send([text], AbortSignal.timeout(TIMEOUT_MS))
  const { event, verdict } = outcome!
  const why = oneLine(sender.describe(verdict))
  if (verdict.is === 'refused') throw new CliError(why)
  onValid?.()
  const clockFault = sender.clockFault()
  if (clockFault !== undefined) say(clockFault)
  if (verdict.is === 'stored') return void (await sendKept(backlog, sender, AbortSignal.timeout(KEPT_MS)))
  try {
    backlog.write([event])
  } catch (cause) {
    throw new CliError(`${why}; event lost: ${describeUnwritable(backlog.home, cause)}`, EXIT_REFUSED, { cause })
  }
  say(`${why}; event kept, sent later`)
}
