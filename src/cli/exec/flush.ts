// `stint flush`: sends the events that were kept while Stint was away, and once more those that it refused.
import { openBacklog } from '../../client/backlog.ts'
import { systemClock } from '../../clock.ts'
import { readCliConfig } from '../config.ts'
import { CliError, type Io } from '../io.ts'
import { oneLine } from '../safe-text.ts'
import { createBatchSender } from './send-batch.ts'
import { type Sent, sendKept } from './send-kept.ts'

const NOTHING: Sent = { stored: 0, refused: 0, reasons: [], fault: undefined }

/** `everything` includes what was kept for other addresses and keys. Throws CliError if something is left. */
export async function runFlush(everything: boolean, io: Io): Promise<void> {
  const { url, keyHeader, apiKey: key, backlogHomes } = readCliConfig(io.env)
  const say = (line: string) => io.stderr.write(`stint: ${oneLine(line)}\n`)
  const all = openBacklog(backlogHomes, url, key ?? '', true)
  const backlog = everything ? all : openBacklog(backlogHomes, url, key ?? '')
  const sender = createBatchSender({ url, keyHeader, key }, io.fetch, systemClock)
  const { signal } = new AbortController()
  const again = await sendKept(backlog, sender, signal, backlog.listRefused)
  const { reasons, ...kept } = again.fault === undefined ? await sendKept(backlog, sender, signal) : NOTHING
  const stored = again.stored + kept.stored
  const fault = again.fault ?? kept.fault
  for (const reason of again.reasons) say(`refused again, and left in refused/: ${reason}`)
  for (const reason of reasons) say(`refused, and moved to refused/: ${reason}`)
  const clockFault = sender.clockFault()
  if (clockFault !== undefined) say(clockFault)
  const countIn = (paths: readonly string[]) => paths.reduce((sum, path) => sum + (all.read(path)?.length ?? 0), 0)
  const ours = new Set(backlog.list())
  const others = countIn(all.list().filter((path) => !ours.has(path)))
  const elsewhere = others > 0 ? `, ${others} for another address or key (--all sends them here)` : ''
  const figures = `${stored} sent, ${kept.refused} refused, ${countIn([...ours])} left${elsewhere}`
  if (fault !== undefined) throw new CliError(`${figures}: ${oneLine(fault)}`)
  io.stdout.write(`${figures}\n`)
}
