// `stint timings show`: one run with what was sent during it: its exceptions and what it has said.

import type { ExceptionText } from '../wire/exceptions.ts'
import type { OutputText } from '../wire/outputs.ts'
import { formatDuration } from '../wire/span-text.ts'
import type { Timing } from '../wire/timings.ts'
import { createApi } from './api.ts'
import { JSON_OPTION, type Json, printJson } from './commands.ts'
import { formatLocalTime } from './format-time.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { createPaint, manyLines, oneLine } from './safe-text.ts'
import { stateCell } from './timing-view.ts'

interface Options extends Json {
  readonly meta?: string
  readonly uid?: string
}

/** How far back the newest run may lie. */
const REACH = '-7d'
/** After its end a run may still send what belongs to it. */
const LATE_MS = 60_000

export function addShowCommand(timings: Program, io: Io): void {
  timings
    .command('show')
    .description('show the newest run of a process with its exceptions and output')
    .argument('<process>', 'name of the process')
    .option('--meta <text>', 'only this meta; "" for runs without one')
    .option('--uid <id>', 'the run with this uid')
    .option(...JSON_OPTION)
    .action(async (process: string, { meta, uid, json }: Options) => {
      const api = createApi(io)
      const ask = <T>(path: string, parameters: Record<string, string | undefined>) => {
        const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
        return api.askWithKey<T>('GET', `${path}?${new URLSearchParams(given)}`)
      }
      const which = { process, meta, uid, from: REACH, limit: '1' }
      const { timings: found } = await ask<{ timings: Timing[] }>('/api/timings', which)
      const [timing] = found
      if (timing === undefined) throw new CliError(`no run of ${process} in the last 7 days`)
      const during = { ...ofRun(timing), limit: '100' }
      const { exceptions } = await ask<{ exceptions: ExceptionText[] }>('/api/exceptions', during)
      const { outputs } = await ask<{ outputs: OutputText[] }>('/api/outputs', during)
      if (json) return printJson(io, { timing, exceptions, outputs })
      io.stdout.write(describe(io, timing, exceptions.toReversed(), outputs.toReversed()))
    })
}

/** The question about what a run sent: by its uid, or while it ran. */
function ofRun({ process, meta, uid, started_at, ended_at }: Timing): Record<string, string | undefined> {
  const to = ended_at === null ? undefined : Date.parse(ended_at) + (uid === null ? 1 : LATE_MS)
  return {
    process,
    meta: meta ?? '',
    uid: uid ?? '',
    from: started_at ?? ended_at!,
    to: to === undefined ? undefined : new Date(to).toISOString(),
  }
}

function describe(
  io: Io,
  timing: Timing,
  exceptions: readonly ExceptionText[],
  outputs: readonly OutputText[],
): string {
  const paint = createPaint(io)
  const { process, meta, uid, started_at, ended_at, duration_ms } = timing
  const { text, style } = stateCell(timing)
  const facts = [
    `${paint(oneLine(process), 'bold')}${meta === null ? '' : ` (${oneLine(meta)})`}  ${paint(text, style)}`,
    ...(uid === null ? [] : [`uid       ${oneLine(uid)}`]),
    ...(started_at === null ? [] : [`started   ${formatLocalTime(started_at)}`]),
    ...(ended_at === null ? [] : [`ended     ${formatLocalTime(ended_at)}`]),
    ...(duration_ms === null ? [] : [`duration  ${formatDuration(duration_ms)}`]),
  ]
  const part = (title: string, texts: readonly string[]) =>
    texts.length === 0 ? '' : `\n${paint(title, 'bold')}\n${texts.map((each) => `${indent(each)}\n`).join('\n')}`
  return (
    `${facts.join('\n')}\n` +
    part(
      exceptions.length === 1 ? 'Exception' : 'Exceptions',
      exceptions.map(({ exception }) => exception),
    ) +
    part(
      'Output',
      outputs.map(({ output }) => output),
    )
  )
}

/** So that no line of a text can pass for one of ours. */
const indent = (text: string): string => manyLines(text).trimEnd().replace(/^/gm, '  ')
