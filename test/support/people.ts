// People in the account of a test's app, beside the owner who made it.
import type { Role } from '../../src/wire/roles.ts'
import type { TestApp } from './app.ts'

/** The cookie of a new session. */
export const enter = async ({ rooms, account }: TestApp, person: string, into = account): Promise<string> =>
  `stint_session=${await rooms.accounts.sessions.create({ account: into, person, userAgent: '' })}`

/** The owner who made the account, as a session sees it. */
export async function ownerOf({ rooms, account }: TestApp) {
  const [owner] = await rooms.accounts.members.list(account)
  return { account, person: owner!.id }
}

/** Invites somebody new, who accepts; the id of the person. */
export async function join(app: TestApp, role: Role, name: string = role): Promise<string> {
  const { invitations } = app.rooms.accounts
  const invited = await invitations.create(await ownerOf(app), `${name}@example.com`, role)
  return (await invitations.joinAsNew(invited.token, 'no hash')).person
}
