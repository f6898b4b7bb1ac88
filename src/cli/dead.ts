// `stint dead …`: events that their store refused for good: list them, send them again once the cause is fixed, or
// delete them.
import { type Api, createApi, Refusal } from './api.ts'
import {
  ALL_FLAG,
  addQuestion,
  answerQuestion,
  eachRow,
  type QuestionOptions,
  type Row,
  toParameters,
  type View,
} from './ask-question.ts'
import type { Json } from './commands.ts'
import { formatLocalTime } from './format-time.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import type { Program } from './program.ts'
import { createPaint, oneLine, safeJson } from './safe-text.ts'
import { META, PROCESS, text, time } from './timing-view.ts'

interface Selection {
  readonly all?: boolean
  readonly yes?: boolean
}

const DEAD: View = {
  path: '/api/dead',
  list: 'dead',
  fields: ['id', 'kind', 'process', 'meta', 'at', 'reason', 'buried_at', 'event'],
  columns: [
    { title: 'ID', cell: ({ id }) => id },
    time('BURIED', 'buried_at'),
    { title: 'KIND', cell: ({ kind }) => kind },
    PROCESS,
    META,
    text('REASON', 'reason'),
  ],
  empty: 'No dead letters.',
}

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const dead = program.command('dead').description('events that their store refused for good')

  addQuestion(dead, 'list', 'list dead letters with their reasons, newest first', ['limit'])
    .option(...ALL_FLAG)
    .action((options: QuestionOptions) => answerQuestion(io, DEAD, options, toParameters(options, ['limit'])))

  dead
    .command('show')
    .description('show one dead letter in full')
    .argument('<id>', 'as dead list shows it')
    .option('--json', 'print it as JSON')
    .action(async (id: string, { json }: Json) => {
      for await (const letter of eachRow(api(), DEAD.path, DEAD.list, new URLSearchParams())) {
        if (letter.id === id) return void io.stdout.write(json ? `${safeJson(letter)}\n` : describe(letter, io))
      }
      throw notFound([id])
    })

  dead
    .command('replay')
    .description('send dead letters to their store again')
    .argument('[ids...]', 'as dead list shows them')
    .option('--all', 'all dead letters')
    .action(async (ids: string[], selection: Selection) => {
      const toPath = (id: string) => pathOf(id, '/replay')
      const done = await forEach(api(), await select(api(), ids, selection), 'POST', toPath)
      io.stdout.write(`${letters(done)} sent to the store again.\n`)
    })

  dead
    .command('drop')
    .description('delete dead letters')
    .argument('[ids...]', 'as dead list shows them')
    .option('--all', 'all dead letters')
    .option('--yes', 'do not ask')
    .action(async (ids: string[], selection: Selection) => {
      const found = await select(api(), ids, selection)
      if (found.length > 0 && !selection.yes) await confirmDrop(io, found.length)
      const done = await forEach(api(), found, 'DELETE', pathOf)
      io.stdout.write(`${letters(done)} deleted.\n`)
    })
}

const pathOf = (id: string, action = '') => `/api/dead/${encodeURIComponent(id)}${action}`
const letters = (n: number) => `${n} dead ${n === 1 ? 'letter' : 'letters'}`
const notFound = (ids: readonly string[], done = '') =>
  new CliError(`${done}dead letter not found: ${ids.map(oneLine).join(', ')}`)

/** The selected ids. `--all` means the present ones: a letter buried again meanwhile is not taken a second time. */
async function select(api: Api, ids: readonly string[], selection: Selection): Promise<readonly string[]> {
  const { all } = selection
  if (ids.length > 0 === (all === true)) throw new CliError('pass ids of dead letters, or --all', EXIT_USAGE)
  if (!all) return [...new Set(ids)]
  const found: string[] = []
  for await (const { id } of eachRow(api, DEAD.path, DEAD.list, new URLSearchParams())) found.push(id)
  return found.reverse() // in the order they were sent
}

/** Returns the number done. Throws CliError at the first fault; ids that are not found are reported at the end. */
async function forEach(
  api: Api,
  ids: readonly string[],
  method: string,
  path: (id: string) => string,
): Promise<number> {
  const missing: string[] = []
  for (const id of ids) {
    try {
      await api.askWithKey(method, path(id))
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'not_found') throw error
      missing.push(id)
    }
  }
  if (missing.length > 0) throw notFound(missing, `${ids.length - missing.length} done; `)
  return ids.length
}

async function confirmDrop(io: Io, count: number): Promise<void> {
  if (!io.isTerminal) throw new CliError('cannot ask for confirmation: not a terminal; pass --yes', EXIT_USAGE)
  const answer = await io.readLine(`Delete ${letters(count)}? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('nothing deleted')
}

function describe({ id, kind, process, meta, at, reason, buried_at, event }: Row, io: Io): string {
  const paint = createPaint(io)
  const lines = {
    id,
    kind,
    process: process ?? '–',
    meta: meta ?? '–',
    at: at === null ? '–' : formatLocalTime(at),
    buried: formatLocalTime(buried_at),
    reason,
  }
  const head = Object.entries(lines).map(([name, value]) => `${paint(name.padEnd(8), 'bold')} ${oneLine(value)}\n`)
  return `${head.join('')}${safeJson(event, 2)}\n`
}
