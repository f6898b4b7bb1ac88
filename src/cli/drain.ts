// `stint drain DIR`: delivers the spools of a node that will not return.
import { resolve } from 'node:path'
import { withServerParts } from './copy.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { safeJson } from './safe-text.ts'

const HELP = `
DIR is the DATA_DIR of the node, whose server must not run. Settings are those of a server: INFLUX_URL and CLICKHOUSE_URL name the stores. The spools keep what is not
delivered yet, so the command can be interrupted and repeated. With DATABASE_URL the other nodes do not wait for this one any more.`

export function register(program: Program, io: Io): void {
  program
    .command('drain')
    .description('deliver what the spools of a node hold that will not return')
    .argument('<dir>', 'DATA_DIR of that node')
    .option('--json', 'print a summary as JSON')
    .addHelpText('after', HELP)
    .action(async (dir: string, { json }: { json?: boolean }) => {
      const [{ drainSpools }, { readConfig }] = await Promise.all([
        import('../copy/drain-spools.ts'),
        import('../config.ts'),
      ])
      await withServerParts(io, async (parts) => {
        const config = readConfig(io.env)
        const summary = await drainSpools(resolve(dir), { ...config, dataDir: resolve(config.dataDir) }, parts)
        if (config.databaseUrl !== undefined) await forgetNodeOf(resolve(dir), config.databaseUrl)
        const { delivered, expired, buried, damaged } = summary
        if (json) io.stdout.write(`${safeJson(summary)}\n`)
        else
          io.stdout.write(
            `The spools are empty: ${delivered} events delivered, ${expired} expired, ${buried} in the dead letters.\n`,
          )
        if (buried + damaged > 0)
          throw new CliError(`${buried} events are in ${dir}/dead.sqlite, ${damaged} records were damaged`)
      })
    })
}

/** Its spools are empty: the node is not silent any more, but gone. */
async function forgetNodeOf(dir: string, databaseUrl: string): Promise<void> {
  const [{ readNodeId }, { openPostgres }, { forgetNode }] = await Promise.all([
    import('../state/data-dir-lock.ts'),
    import('../state/postgres.ts'),
    import('../watch/nodes/node-table.ts'),
  ])
  const node = readNodeId(dir)
  if (node === undefined) return
  const postgres = openPostgres(databaseUrl, 'watches')
  try {
    await postgres.write(() => forgetNode(Number(node)))
  } catch (cause) {
    const reason = 'the node could not be removed from PostgreSQL, so `late` is unknown until an hour after its end'
    throw new CliError(`the spools are empty, but ${reason}: ${(cause as Error).message}`, undefined, { cause })
  } finally {
    await postgres.close()
  }
}
