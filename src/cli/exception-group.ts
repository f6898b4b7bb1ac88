// `stint exceptions resolve|ignore|reopen`: what people decide about a group of exceptions.
import type { ChangedExceptionGroups } from '../wire/exceptions.ts'
import { createApi } from './api.ts'
import { readCliConfig } from './config.ts'
import type { Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine, safeJson } from './safe-text.ts'

const CHANGES = [
  ['resolve', 'resolved', 'resolve a group: it is listed again when it occurs again (scope manage)'],
  ['ignore', 'ignored', 'ignore a group: it is not listed, is no trouble and fires no watch (scope manage)'],
  ['reopen', 'unresolved', 'take that back (scope manage)'],
] as const

export function addGroupCommands(exceptions: Program, io: Io): void {
  for (const [name, status, about] of CHANGES)
    exceptions
      .command(name)
      .description(about)
      .argument('<group>', 'fingerprint, as --groups shows it')
      .option('--process <name>', 'only in this process; default: in every one')
      .option('--json', 'print the answer as JSON')
      .action(async (group: string, { process, json }: { process?: string; json?: boolean }) => {
        const path = `/api/exceptions/groups/${encodeURIComponent(group)}`
        const { body } = await createApi(readCliConfig(io.env), io).askWithKey('PATCH', path, { status, process })
        const { groups } = body as ChangedExceptionGroups
        if (json) return io.stdout.write(`${safeJson({ groups }, 2)}\n`)
        for (const it of groups)
          io.stderr.write(`${oneLine(it.fingerprint)} is ${it.status} in ${oneLine(it.process)}.\n`)
      })
}
