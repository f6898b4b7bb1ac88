// `stint exceptions resolve|ignore|reopen`: people's decisions about a group of exceptions.
import type { ChangedExceptionGroups } from '../wire/exceptions.ts'
import { createApi } from './api.ts'
import { JSON_OPTION, type Json, printJson } from './commands.ts'
import type { Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

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
      .option(...JSON_OPTION)
      .action(async (group: string, { process, json }: Json & { process?: string }) => {
        const path = `/api/exceptions/groups/${encodeURIComponent(group)}`
        const { groups } = await createApi(io).askWithKey<ChangedExceptionGroups>('PATCH', path, { status, process })
        if (json) return printJson(io, { groups })
        for (const it of groups)
          io.stderr.write(`${oneLine(it.fingerprint)} is ${it.status} in ${oneLine(it.process)}.\n`)
      })
}
