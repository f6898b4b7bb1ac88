// `stint member …` and `stint audit`: people of the signed-in account, for its owners; a member is an e-mail address or
// id.

import type { AuditPage } from '../wire/audit.ts'
import { AUDIT_ACTIONS } from '../wire/audit-actions.ts'
import type { Members, NewInvitation } from '../wire/people.ts'
import { ROLES } from '../wire/roles.ts'
import { createApi } from './api.ts'
import { addList, JSON_OPTION, type Json, oneOf, printJson } from './commands.ts'
import { formatTable } from './format-rows.ts'
import { formatLocalTime } from './format-time.ts'
import { CliError, type Io } from './io.ts'
import type { Program } from './program.ts'
import { oneLine } from './safe-text.ts'

const ROLE = `the role: ${ROLES.join(', ')}`
const parseRole = oneOf(ROLES)
const parseAction = oneOf(AUDIT_ACTIONS, `Expected one of ${AUDIT_ACTIONS.join(', ')}.`)
const WHO = 'e-mail address or id, as member list shows them'

export function register(program: Program, io: Io): void {
  const api = () => createApi(io)
  const member = program.command('member').description('list, invite and remove people, and change their roles')

  const listMembers = () => api().askSignedIn<Members>('GET', '/api/members')

  /** The path of a member, or of an invitation that is open. */
  async function findPerson(who: string): Promise<{ path: string; email: string; isInvited: boolean }> {
    const { members, invitations } = await listMembers()
    const isNamed = ({ id, email }: { id: string; email: string }) => id === who || email === who.toLowerCase()
    const found = members.find(isNamed)
    if (found !== undefined) return { path: `/api/members/${found.id}`, email: found.email, isInvited: false }
    const invited = invitations.find(isNamed)
    if (invited === undefined) throw new CliError(`no member and no open invitation is ${oneLine(who)}`)
    return { path: `/api/invitations/${invited.id}`, email: invited.email, isInvited: true }
  }

  addList(member, io, {
    about: 'list members and open invitations',
    ask: listMembers,
    heads: ['ID', 'E-MAIL', 'ROLE', 'STATE'],
    rows: ({ members, invitations }) => [
      ...members.map(({ id, email, role, since }) => [id, email, role, `since ${formatLocalTime(since)}`]),
      ...invitations.map(({ id, email, role, expires_at }) => {
        return [id, email, role, `invited until ${formatLocalTime(expires_at)}`]
      }),
    ],
  })

  member
    .command('invite')
    .description('invite a person and print the link, once')
    .argument('<address>', 'e-mail address of the person')
    .option('--role <role>', ROLE, parseRole, 'member')
    .option(...JSON_OPTION)
    .action(async (email: string, { role, json }: Json & { role: string }) => {
      const answer = await api().askSignedIn<NewInvitation>('POST', '/api/invitations', { email, role })
      if (json) return printJson(io, answer)
      const { invitation } = answer
      const how = invitation.mailed ? 'The link is also sent by e-mail' : 'Send the person this link'
      io.stderr.write(
        `${oneLine(invitation.email)} is invited as ${invitation.role}. ${how}; good once, until ` +
          `${formatLocalTime(invitation.expires_at)}:\n`,
      )
      io.stdout.write(`${oneLine(invitation.url)}\n`)
    })

  member
    .command('role')
    .description('change the role of a member')
    .argument('<member>', WHO)
    .argument('<role>', ROLE, parseRole)
    .action(async (who: string, role: string) => {
      const { path, email, isInvited } = await findPerson(who)
      if (isInvited) throw new CliError(`${oneLine(email)} has not accepted yet: invite again with --role ${role}`)
      await api().askSignedIn('PATCH', path, { role })
      io.stderr.write(`${oneLine(email)} is now ${role === 'owner' ? 'an' : 'a'} ${role}.\n`)
    })

  member
    .command('remove')
    .description('remove a member, or withdraw an invitation')
    .argument('<member>', WHO)
    .option('--take-keys', 'the keys of the member become yours; without it, those that read or manage end')
    .action(async (who: string, { takeKeys }: { takeKeys?: boolean }) => {
      const { path, email, isInvited } = await findPerson(who)
      await api().askSignedIn('DELETE', takeKeys && !isInvited ? `${path}?keys=take` : path)
      io.stderr.write(
        `${isInvited ? 'The invitation of ' : ''}${oneLine(email)} ${isInvited ? 'is withdrawn' : 'is removed'}.\n`,
      )
    })

  program
    .command('audit')
    .description('list who did what in the account, newest first')
    .option('--from <time>', 'start of the range, such as -7d or 2026-11-20T00:00:00Z')
    .option('--to <time>', 'end of the range')
    .option('--action <action>', 'only this action, such as member_changed', parseAction)
    .option('--actor <address>', 'only what this person did')
    .option('--limit <n>', 'number of entries, at most 1000')
    .option('--cursor <cursor>', 'the page after this entry, as --json shows it in next')
    .option(...JSON_OPTION)
    .action(async ({ json, ...filters }: Json & Record<string, string>) => {
      const search = new URLSearchParams(filters).toString()
      const page = await api().askSignedIn<AuditPage>('GET', search === '' ? '/api/audit' : `/api/audit?${search}`)
      if (json) return printJson(io, page)
      const { entries, next } = page
      const rows = entries.map(({ at, actor, key, action, target, detail, address }) => [
        formatLocalTime(at),
        actor ?? (key === null ? '' : `key ${key}`),
        action,
        [target, detail].filter((text) => text !== null).join(' '),
        address,
      ])
      io.stdout.write(formatTable(['AT', 'WHO', 'ACTION', 'WHAT', 'ADDRESS'], rows))
      if (next !== null) io.stderr.write(`More: --cursor ${oneLine(next)}\n`)
    })
}
