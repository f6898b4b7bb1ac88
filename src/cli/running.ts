// `stint running`: what has begun and not ended; once, or as it changes.
import { systemClock } from '../clock.ts'
import { createApi } from './api.ts'
import { readCliConfig } from './config.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { askPages } from './questions/ask-pages.ts'
import { type FilterName, toParameters } from './questions/filters.ts'
import { ALL_FLAG, addQuestion, answerQuestion, checkForm, type QuestionOptions } from './questions/question-command.ts'
import { runningShape, type Timing } from './questions/timing-shape.ts'
import { watchChanges, watchOnTerminal } from './questions/watch-running.ts'

interface Options extends QuestionOptions {
  readonly watch?: boolean
}

const FILTERS: readonly FilterName[] = ['process', 'meta', 'uid', 'limit']
const EVERY_MS = 2000

export function register(program: Program, io: Io): void {
  const nowMs = () => systemClock.wallUs() / 1000
  addQuestion(program, 'running', 'what runs now', FILTERS)
    .option(...ALL_FLAG)
    .option('--watch', 'asks every 2 s until Ctrl-C: in place on a terminal, else a line for each change')
    .action(async (options: Options) => {
      const parameters = toParameters(options, FILTERS)
      parameters.set('state', 'running')
      if (!options.watch) return answerQuestion(io, runningShape(nowMs), options, parameters)
      checkForm(options)
      if (options.csv) throw new CliError('--csv and --watch do not go together', EXIT_USAGE)
      return watch(io, parameters, options.json === true, nowMs)
    })
}

async function watch(io: Io, parameters: URLSearchParams, isJson: boolean, nowMs: () => number): Promise<void> {
  const api = createApi(readCliConfig(io.env), io)
  const find = async (query: URLSearchParams): Promise<Timing[]> => {
    query.set('limit', '1000')
    const found: Timing[] = []
    for await (const { rows } of askPages(api, '/api/timings', 'timings', query, true))
      found.push(...(rows as Timing[]))
    return found
  }
  const interrupted = new AbortController()
  const end = () => interrupted.abort()
  process.on('SIGINT', end).on('SIGTERM', end)
  const deps = {
    io,
    findRunning: () => find(new URLSearchParams(parameters)),
    async findSettled({ process, meta, uid, started_at }: Timing) {
      const same = { process, meta: meta ?? '', uid: uid ?? '', from: started_at ?? '' }
      return (await find(new URLSearchParams(same))).find((timing) => timing.started_at === started_at)
    },
    nowMs,
    everyMs: EVERY_MS,
    signal: interrupted.signal,
  }
  await (io.stdout.isTTY && !isJson ? watchOnTerminal(deps) : watchChanges(deps, isJson))
  if (interrupted.signal.aborted) io.exit(0) // a question may be under way
}
