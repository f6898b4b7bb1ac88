// `stint key …`: the API keys of your own. Standard output gets a new secret alone: KEY=$(stint key create
// --name x).
import { systemClock } from '../clock.ts'
import type { Key, KeyAnswer, Keys } from '../wire/keys.ts'
import { OVERLAP_MAX_S } from '../wire/roles.ts'
import { parseSpanS } from '../wire/span-text.ts'
import { createApi } from './api.ts'
import { addList, JSON_OPTION, type Json, printJson } from './commands.ts'
import { formatLocalTime } from './format-time.ts'
import type { Io } from './io.ts'
import { invalidArgument, type Program } from './program.ts'
import { oneLine } from './safe-text.ts'

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const key = program.command('key').description('list, create, rotate and revoke API keys')

  addList(key, io, {
    about: 'list the keys, including those that ended within the last 30 days',
    ask: () => api().askWithKey<Keys>('GET', '/api/keys'),
    heads: ['ID', 'NAME', 'KEY', 'SCOPES', 'CREATED', 'LAST USED', 'STATE'],
    rows: ({ keys }) => keys.map((each) => toRow(each, systemClock.wallUs() / 1000)),
  })

  key
    .command('create')
    .description('create a key and print its secret, once')
    .requiredOption('--name <name>', 'name of the key')
    .option(
      '--scopes <scopes>',
      'write (send events), read (ask questions), manage (watches and keys), such as write,read; or ping alone ' +
        '(addresses)',
      parseScopes,
      ['write'],
    )
    .option('--process <name>', 'the only process that a key with the scope ping may name')
    .option(...JSON_OPTION)
    .action(async ({ name, scopes, process, json }: Json & { name: string; scopes: string[]; process?: string }) => {
      const body = { name, scopes, ...(process !== undefined && { process }) }
      const answer = await api().askWithKey<KeyAnswer>('POST', '/api/keys', body)
      if (json) printJson(io, answer)
      else printIssued(answer, '')
    })

  key
    .command('rotate')
    .description('replace a key by a new one with the same name and scopes, and print its secret, once')
    .argument('<id>', 'id of the key, as key list shows it')
    .option('--overlap <span>', 'keep the old key valid for 0, 90s, 30m, 24h, 7d, at most 30d', parseOverlapS, 0)
    .option(...JSON_OPTION)
    .action(async (id: string, { overlap, json }: Json & { overlap: number }) => {
      const path = `/api/keys/${encodeURIComponent(id)}/rotate`
      const answer = await api().askWithKey<KeyAnswer>('POST', path, { overlap_seconds: overlap })
      if (json) printJson(io, answer)
      else printIssued(answer, `The old key ${overlap === 0 ? 'is revoked' : `expires in ${overlap} s`}.\n`)
    })

  key
    .command('revoke')
    .description('revoke a key at once')
    .argument('<id>', 'id of the key, as key list shows it')
    .action(async (id: string) => {
      await api().askWithKey('DELETE', `/api/keys/${encodeURIComponent(id)}`)
      io.stderr.write(`Key ${oneLine(id)} revoked.\n`)
    })

  function printIssued({ key }: KeyAnswer, more: string): void {
    io.stderr.write(`Key ${oneLine(key.name)} (${key.id}; ${key.scopes.join(', ')}), shown only this once:\n`)
    io.stdout.write(`${oneLine(key.secret)}\n`)
    io.stderr.write(more)
  }
}

const toRow = (key: Key, nowMs: number): string[] => [
  key.id,
  key.name,
  `${key.prefix}…`,
  key.process === undefined ? key.scopes.join(',') : `ping ${oneLine(key.process)}`,
  formatLocalTime(key.created_at),
  key.last_used_at === null ? 'never' : formatLocalTime(key.last_used_at),
  stateOf(key, nowMs),
]

function stateOf({ revoked_at, expires_at }: Key, nowMs: number): string {
  if (revoked_at !== null) return `revoked ${formatLocalTime(revoked_at)}`
  if (expires_at === null) return 'active'
  return `${Date.parse(expires_at) > nowMs ? 'active until' : 'expired'} ${formatLocalTime(expires_at)}`
}

function parseScopes(text: string): string[] {
  const scopes = text.split(',').map((scope) => scope.trim())
  const isPing = scopes.length === 1 && scopes[0] === 'ping'
  if (!isPing && scopes.some((scope) => !['write', 'read', 'manage'].includes(scope))) {
    throw invalidArgument('Expected write, read, manage, several of them such as write,read, or ping alone.')
  }
  return [...new Set(scopes)]
}

function parseOverlapS(text: string): number {
  const seconds = parseSpanS(text)
  if (seconds !== undefined && seconds <= OVERLAP_MAX_S) return seconds
  throw invalidArgument('Expected a span such as 0, 90s, 30m, 24h or 7d, at most 30d.')
}
