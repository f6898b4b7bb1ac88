// Members, roles and invitations over HTTP. Tokens of invitations travel in bodies and fragments, never in paths.
import { normalizeEmail, passwordFault } from '../../account/credentials.ts'
import type { Member } from '../../account/people/members.ts'
import { invalidBody, Problem } from '../../problem.ts'
import { parseChoice } from '../../query/parameters.ts'
import { parseParameters } from '../../query/question.ts'
import * as wire from '../../wire/people.ts'
import { jsonAnswer } from '../answers.ts'
import { roleMissing } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import { type Rules, readJson } from '../read-json.ts'
import {
  answerSession,
  type PeopleDeps,
  requirePasswords,
  startSession,
  toTime,
  withCookie,
} from './session-answers.ts'
import { sessionToken } from './session-cookie.ts'

const answerMember = ({ id, email, role, sinceMs }: Member): wire.Member => ({
  id,
  email,
  role,
  since: toTime(sinceMs),
})

const INVITE_RULES: Rules<wire.Invite> = {
  email: (email) => (normalizeEmail(email) === undefined ? 'must be an e-mail address' : undefined),
}
const ACCEPT_RULES: Rules<wire.AcceptInvitation> = { password: (password) => passwordFault(password)?.detail }

export function mountPeople({ on, onStranger }: Mounts, deps: PeopleDeps): void {
  const { accounts, addressOf, audit, linkLimiter, mailInvitation } = deps
  const { invitations, members, sessions } = accounts

  on(wire.LIST_MEMBERS, async ({ account, role }) => {
    const open = role === 'owner' ? await invitations.list(account) : []
    return {
      members: (await members.list(account)).map(answerMember),
      invitations: open.map(({ id, email, role: asked, endsMs }) => ({
        id,
        email,
        role: asked,
        expires_at: toTime(endsMs),
      })),
    }
  })
  on(wire.CHANGE_MEMBER, async (_, { request, params, again, noted }) => {
    const { role } = await readJson(request, wire.ChangeMember)
    const { account } = await again()
    const member = await members.changeRole({ account, person: params.id }, role)
    noted.target = member.email
    noted.detail = role
    return { member: answerMember(member) }
  })
  on(wire.REMOVE_MEMBER, async ({ account, role, session }, { request, params, noted }) => {
    if (params.id !== session!.person && role !== 'owner') throw roleMissing('owner')
    const { keys } = parseParameters(REMOVE_PARAMETERS, new URL(request.url).searchParams)
    const member = (await members.list(account)).find(({ id }) => id === params.id)
    noted.target = member?.email ?? params.id
    const heir = keys === 'take' ? { id: session!.person, email: session!.email } : undefined
    await members.remove({ account, person: params.id }, heir)
  })
  on(wire.INVITE, async (_, { request, again, noted }) => {
    const { email, role } = await readJson(request, wire.Invite, INVITE_RULES)
    const { account, session } = await again()
    linkLimiter.attempt(account)
    const by = { account, person: session!.person }
    const { token, ...made } = await invitations.create(by, normalizeEmail(email)!, role)
    const url = `${deps.publicUrl()}/#/invitation?token=${token}`
    const shown = await accounts.get(account)
    mailInvitation?.(made.email, { by: session!.email, account: shown?.name ?? '', url }).catch(deps.mailFailed)
    noted.target = made.email
    noted.detail = role
    const { id, endsMs } = made
    const mailed = mailInvitation !== undefined
    return { invitation: { id, email: made.email, role, expires_at: toTime(endsMs), url, mailed } }
  })
  on(wire.WITHDRAW_INVITATION, ({ account }, { params }) => invitations.revoke(account, params.id))

  onStranger(wire.LOOK_INVITATION, async (_, { request }) => {
    const { token } = await readJson(request, wire.LookInvitation)
    linkLimiter.attempt(addressOf(request))
    const { account, ...invited } = await invitations.look(token)
    return { account: { name: account.name }, ...invited }
  })
  onStranger(wire.ACCEPT_INVITATION, async (_, { request }) => {
    const { token, password } = await readJson(request, wire.AcceptInvitation, ACCEPT_RULES)
    const address = addressOf(request)
    linkLimiter.attempt(address)
    const { email, known, role } = await invitations.look(token)
    const session = await findSession(request)
    if (known || password === undefined) {
      if (session === undefined) throw signInFirst(known)
      const person = { id: session.person, email: session.email }
      const seat = await invitations.join(token, person)
      await sessions.enter(session.id, seat)
      await audit('member_joined', { account: seat.account, actor: person.email, detail: role, address })
      return jsonAnswer(await answerSession(deps, seat, person), 201)
    }
    requirePasswords(deps)
    const fault = passwordFault(password, email)
    if (fault !== undefined) throw new Problem('fields_invalid', 'The password cannot be used.', { errors: [fault] })
    const hash = await accounts.passwords.hash(password, address)
    const joined = await invitations.joinAsNew(token, hash)
    const { person: id, account } = joined
    const cookie = await startSession(deps, request, { account, person: id })
    await audit('member_joined', { account, actor: email, detail: role, address })
    return withCookie(jsonAnswer(await answerSession(deps, { account, person: id }, { id, email }), 201), cookie)
  })

  async function findSession(request: Request) {
    const token = sessionToken(request)
    return token === undefined ? undefined : sessions.find(token)
  }
}

const signInFirst = (isKnown: boolean) =>
  isKnown
    ? new Problem('session_invalid', 'There is a person with this address: sign in with it, then accept.')
    : invalidBody([{ pointer: '/password', detail: 'is required for an address that is new here' }])

const REMOVE_PARAMETERS = { keys: parseChoice(['take'], 'must be take') }
