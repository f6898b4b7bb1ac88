// `stint node …`, for operators of several nodes on one PostgreSQL: list them, and stop waiting for one that is gone.
import { addList } from './commands.ts'
import { withServerParts } from './copy.ts'
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { invalidArgument, type Program } from './program.ts'

const HELP = `
Settings are those of the server: DATABASE_URL or DATABASE_URL_FILE. A node that was killed may hold accepted events
in its DATA_DIR: as long as it is awaited, \`late\` is not judged. Start it again, or deliver them with stint drain.
Forget it only if its disk is lost.`

export function register(program: Program, io: Io): void {
  const node = program.command('node').description('nodes on one PostgreSQL, on the machine of a server')

  addList(node, io, {
    about: 'list nodes with the time since their last heartbeat',
    ask: () => withNodes(io, async ({ list }) => ({ nodes: Array.from(await list(), toAnswer) })),
    heads: ['NODE', 'STATE', 'LAST HEARTBEAT'],
    rows: ({ nodes }) =>
      nodes.map(({ node, state, age_ms }) => [`${node}`, state, `${Math.round(age_ms / 1e3)} s ago`]),
    empty: 'No nodes.',
  }).addHelpText('after', HELP)

  node
    .command('forget')
    .description('do not wait for the events of a node that is gone')
    .argument('<node>', 'its NODE_ID', parseNode)
    .addHelpText('after', HELP)
    .action(async (id: number) => {
      const done = await withNodes(io, ({ forget }) => forget(id))
      if (done === 'unknown') throw new CliError(`no node ${id} is known: list them with stint node list`)
      if (done === 'alive') throw new CliError(`node ${id} is alive: stop it first`)
      io.stderr.write(`Node ${id} is forgotten.\n`)
    })
}

const toAnswer = ({ node, ageUs, isSilent }: Awaited<ReturnType<Nodes['list']>>[number]) => ({
  node,
  state: isSilent ? 'silent' : 'alive',
  age_ms: Math.round(ageUs / 1e3),
})

type Nodes = ReturnType<typeof import('../watch/nodes/manage-nodes.ts')['createManageNodes']>

const withNodes = <T>(io: Io, work: (nodes: Nodes) => Promise<T>): Promise<T> =>
  withServerParts(io, async () => {
    const [{ readConfig }, { openPostgres }, { createManageNodes }] = await Promise.all([
      import('../config.ts'),
      import('../state/postgres.ts'),
      import('../watch/nodes/manage-nodes.ts'),
    ])
    const { databaseUrl } = readConfig(io.env)
    if (databaseUrl === undefined) throw new CliError('no list of nodes: set DATABASE_URL to postgres://…', EXIT_USAGE)
    const database = openPostgres(databaseUrl)
    return work(createManageNodes(database)).finally(database.close)
  })

function parseNode(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw invalidArgument('Expected a NODE_ID, a whole number from 0.')
}
