// `stint dead …`: events that their store will never take. Looked at, sent again once what was in their way is mended, or thrown away.
import { type Api, createApi, Refusal } from './api.ts'
import { readCliConfig } from './config.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { formatLocalTime } from './local-time.ts'
import { oneLine, safeJson } from './one-line.ts'
import { createPaint } from './paint.ts'
import type { Program } from './program.ts'
import { askPages } from './questions/ask-pages.ts'
import { flagOf, toParameters } from './questions/filters.ts'
import {
  ALL_FLAG,
  answerQuestion,
  CSV_FLAG,
  JSON_FLAG,
  type QuestionOptions,
  type Shape,
} from './questions/question-command.ts'
import { textOr } from './questions/timing-shape.ts'

interface DeadLetter {
  readonly id: string
  readonly kind: string
  readonly process: string
  readonly meta: string | null
  readonly at: string
  readonly reason: string
  readonly buried_at: string
  readonly event: object
}

interface Which {
  readonly all?: boolean
  readonly yes?: boolean
}

const SHAPE: Shape<DeadLetter> = {
  path: '/api/dead',
  list: 'dead',
  fields: ['id', 'kind', 'process', 'meta', 'at', 'reason', 'buried_at', 'event'],
  columns: [
    { title: 'ID' },
    { title: 'BURIED' },
    { title: 'KIND' },
    { title: 'PROCESS', cut: true },
    { title: 'META', cut: true },
    { title: 'REASON', cut: true },
  ],
  cells: ({ id, buried_at, kind, process, meta, reason }) => [
    id,
    formatLocalTime(buried_at),
    kind,
    process,
    textOr(meta),
    reason,
  ],
  nothing: 'There are no dead letters.',
}

export function register(program: Program, io: Io): void {
  const api = () => createApi(readCliConfig(io.env), io)
  const dead = program.command('dead').description('events that their store will never take')

  dead
    .command('list')
    .description('list them with the reason, newest first')
    .option(...flagOf('limit'))
    .option(...ALL_FLAG)
    .option(...JSON_FLAG)
    .option(...CSV_FLAG)
    .action((options: QuestionOptions) => answerQuestion(io, SHAPE, options, toParameters(options, ['limit'])))

  dead
    .command('show')
    .description('show one of them whole')
    .argument('<id>', 'as dead list shows it')
    .option('--json', 'print it as JSON')
    .action(async (id: string, { json }: { json?: boolean }) => {
      for await (const letter of findAll(api())) {
        if (letter.id === id) return void io.stdout.write(json ? `${safeJson(letter)}\n` : describe(letter, io))
      }
      throw unknown(id)
    })

  dead
    .command('replay')
    .description('put them back on their way to the store')
    .argument('[ids...]', 'as dead list shows them')
    .option('--all', 'all of them')
    .action(async (ids: string[], which: Which) => {
      const done = await forEach(api(), await chosen(api(), ids, which), 'POST', (id) => `${pathOf(id)}/replay`)
      io.stdout.write(`${letters(done)} back on the way to the store.\n`)
    })

  dead
    .command('drop')
    .description('throw them away for good')
    .argument('[ids...]', 'as dead list shows them')
    .option('--all', 'all of them')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], which: Which) => {
      const found = await chosen(api(), ids, which)
      if (found.length > 0 && !which.yes) await confirm(io, found.length)
      const done = await forEach(api(), found, 'DELETE', pathOf)
      io.stdout.write(`${letters(done)} thrown away.\n`)
    })
}

const pathOf = (id: string) => `/api/dead/${encodeURIComponent(id)}`
const letters = (n: number) => `${n} dead ${n === 1 ? 'letter is' : 'letters are'}`
const unknown = (id: string) => new CliError(`there is no dead letter ${oneLine(id)}`)

async function* findAll(api: Api): AsyncGenerator<DeadLetter> {
  const query = new URLSearchParams({ limit: '1000' })
  for await (const { rows } of askPages(api, SHAPE.path, SHAPE.list, query, true)) yield* rows as DeadLetter[]
}

/** The ids that are meant. With `--all` those there are now: what is buried again meanwhile is not taken up a second time. */
async function chosen(api: Api, ids: readonly string[], { all }: Which): Promise<readonly string[]> {
  if (ids.length > 0 === (all === true)) throw new CliError('name dead letters by their ids, or say --all', EXIT_USAGE)
  if (!all) return [...new Set(ids)]
  const found: string[] = []
  for await (const { id } of findAll(api)) found.push(id)
  return found.reverse() // in the order they were sent
}

/** How many it was done for. Throws CliError at the first that fails, and after the others for one that is not there. */
async function forEach(
  api: Api,
  ids: readonly string[],
  method: string,
  path: (id: string) => string,
): Promise<number> {
  let done = 0
  const missing: string[] = []
  for (const id of ids) {
    try {
      await api.askWithKey(method, path(id))
      done++
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'not_found') throw error
      missing.push(id)
    }
  }
  if (missing.length > 0) throw new CliError(`${done} done; there is no dead letter ${missing.map(oneLine).join(', ')}`)
  return done
}

async function confirm(io: Io, count: number): Promise<void> {
  if (!io.isTerminal) throw new CliError('nobody is here to ask: say --yes to throw them away', EXIT_USAGE)
  const answer = await io.readLine(
    `Throw ${count === 1 ? 'this dead letter' : `these ${count} dead letters`} away for good? [y/N] `,
  )
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('nothing is thrown away')
}

function describe({ id, kind, process, meta, at, reason, buried_at, event }: DeadLetter, io: Io): string {
  const paint = createPaint(io)
  const lines: [string, string][] = [
    ['id', oneLine(id)],
    ['kind', oneLine(kind)],
    ['process', oneLine(process)],
    ['meta', meta === null ? '–' : oneLine(meta)],
    ['at', formatLocalTime(at)],
    ['buried', formatLocalTime(buried_at)],
    ['reason', oneLine(reason)],
  ]
  const head = lines.map(([name, value]) => `${paint(name.padEnd(8), 'bold')} ${value}\n`).join('')
  return `${head}${safeJson(event, 2)}\n`
}
