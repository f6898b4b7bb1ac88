// `stint key …`: the keys of the account that is signed in. A new secret goes to standard output alone: KEY=$(stint key create --name x).
import { systemClock } from '../clock.ts'
import { createApi } from './api.ts'
import { readCliConfig } from './config.ts'
import type { Io } from './io.ts'
import { formatLocalTime } from './local-time.ts'
import { oneLine, safeJson } from './one-line.ts'
import { invalidArgument, type Program } from './program.ts'
import { formatTable } from './text-table.ts'

interface Key {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly string[]
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

interface Issued {
  readonly key: {
    readonly id: string
    readonly name: string
    readonly scopes: readonly string[]
    readonly secret: string
  }
}

interface Json {
  readonly json?: boolean
}

const JSON_OPTION = ['--json', 'print the answer as JSON'] as const

export function register(program: Program, io: Io): void {
  const api = () => createApi(readCliConfig(io.env), io)
  const key = program.command('key').description('list, make, rotate and revoke API keys')
  const printJson = (body: unknown) => io.stdout.write(`${safeJson(body, 2)}\n`)

  key
    .command('list')
    .description('list the keys, with those that ended in the last 30 days')
    .option(...JSON_OPTION)
    .action(async ({ json }: Json) => {
      const { body } = await api().askSignedIn('GET', '/api/keys')
      if (json) printJson(body)
      else io.stdout.write(formatKeys((body as { keys: Key[] }).keys, systemClock.wallUs() / 1000))
    })

  key
    .command('create')
    .description('make a key and print its secret, this once')
    .requiredOption('--name <name>', 'what you tell your keys apart by')
    .option('--scopes <scopes>', 'write (send events), read (ask questions) or both', parseScopes, ['write'])
    .option(...JSON_OPTION)
    .action(async ({ name, scopes, json }: Json & { name: string; scopes: string[] }) => {
      const { body } = await api().askSignedIn('POST', '/api/keys', { name, scopes })
      if (json) printJson(body)
      else printIssued(body as Issued, '')
    })

  key
    .command('rotate')
    .description('replace a key by a new one of the same name and scopes, and print its secret, this once')
    .argument('<id>', 'of the key, as key list shows it')
    .option('--overlap <time>', 'so long the old key still works: 0, 90s, 30m, 24h, 7d, at most 30d', parseOverlapS, 0)
    .option(...JSON_OPTION)
    .action(async (id: string, { overlap, json }: Json & { overlap: number }) => {
      const path = `/api/keys/${encodeURIComponent(id)}/rotate`
      const { body } = await api().askSignedIn('POST', path, { overlap_seconds: overlap })
      if (json) printJson(body)
      else printIssued(body as Issued, `The old key ${overlap === 0 ? 'has ended' : `ends in ${overlap} s`}.\n`)
    })

  key
    .command('revoke')
    .description('end a key at once')
    .argument('<id>', 'of the key, as key list shows it')
    .action(async (id: string) => {
      await api().askSignedIn('DELETE', `/api/keys/${encodeURIComponent(id)}`)
      io.stderr.write(`The key ${oneLine(id)} no longer works.\n`)
    })

  function printIssued({ key }: Issued, more: string): void {
    io.stderr.write(`The key ${oneLine(key.name)} (${key.id}; ${key.scopes.join(', ')}), shown this once:\n`)
    io.stdout.write(`${oneLine(key.secret)}\n`)
    io.stderr.write(more)
  }
}

function formatKeys(keys: readonly Key[], nowMs: number): string {
  const state = ({ revoked_at, expires_at }: Key) => {
    if (revoked_at !== null) return `revoked ${formatLocalTime(revoked_at)}`
    if (expires_at === null) return 'works'
    return `${Date.parse(expires_at) > nowMs ? 'works until' : 'ended'} ${formatLocalTime(expires_at)}`
  }
  const rows = keys.map((key) => [
    key.id,
    key.name,
    `${key.prefix}…`,
    key.scopes.join(','),
    formatLocalTime(key.created_at),
    key.last_used_at === null ? 'never' : formatLocalTime(key.last_used_at),
    state(key),
  ])
  return formatTable(['ID', 'NAME', 'KEY', 'SCOPES', 'CREATED', 'LAST USED', 'STATE'], rows)
}

function parseScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  if (scopes.some((scope) => scope !== 'write' && scope !== 'read')) {
    throw invalidArgument('It is write, read, or write,read.')
  }
  return [...new Set(scopes)]
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }
const OVERLAP_MAX_S = 30 * 86_400

function parseOverlapS(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,8})([smhd])?$/.exec(text) ?? []
  const seconds = Number(count) * UNIT_S[unit]!
  if (!(seconds <= OVERLAP_MAX_S)) throw invalidArgument('It is a time such as 0, 90s, 30m, 24h or 7d, at most 30d.')
  return seconds
}
