// Members, roles and invitations over HTTP. Tokens of invitations travel in bodies and fragments, never in paths.

import { normalizeEmail, passwordFault } from '../../account/credentials.ts'
import { networkOf } from '../../account/networks.ts'
import { invalidBody, Problem } from '../../problem.ts'
import { parseChoice } from '../../query/parameters.ts'
import { parseParameters } from '../../query/question.ts'
import * as wire from '../../wire/people.ts'
import { jsonAnswer } from '../answers.ts'
import { roleMissing } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import { answerSession, type PeopleDeps, requirePasswords, startSession, withCookie } from './session-answers.ts'

const INVITE_RULES = {
  email: (email: string) => (normalizeEmail(email) === undefined ? 'must be an e-mail address' : undefined),
}
const ACCEPT_RULES = { password: (password: string) => passwordFault(password)?.detail }

export function mountPeople({ on, onStranger }: Mounts, deps: PeopleDeps): void {
  const { accounts, addressOf, audit, limits, mailInvitation } = deps
  const { invitations, members, sessions } = accounts

  on(wire.LIST_MEMBERS, async ({ account, role }) => ({
    members: await members.list(account),
    invitations: role === 'owner' ? await invitations.list(account) : [],
  }))
  on(wire.CHANGE_MEMBER, async ({ account }, { params, body: { role }, noted }) => {
    const member = await members.changeRole({ account, person: params.id }, role)
    noted.target = member.email
    noted.detail = role
    return { member }
  })
  on(wire.REMOVE_MEMBER, async ({ account, role, session }, { request, params, noted }) => {
    if (params.id !== session!.person && role !== 'owner') throw roleMissing('owner')
    const { keys } = parseParameters(REMOVE_PARAMETERS, new URL(request.url).searchParams)
    const member = (await members.list(account)).find(({ id }) => id === params.id)
    noted.target = member?.email ?? params.id
    const heir = keys === 'take' ? { id: session!.person, email: session!.email } : undefined
    await members.remove({ account, person: params.id }, heir)
  })
  on(wire.INVITE, INVITE_RULES, async ({ account, session }, { body: { email, role }, noted }) => {
    limits.linksOfAccount.attempt(account)
    const by = { account, person: session!.person }
    const { token, ...made } = await invitations.create(by, normalizeEmail(email)!, role)
    const url = `${deps.publicUrl()}/#/invitation?token=${token}`
    const shown = await accounts.get(account)
    mailInvitation?.(made.email, { by: session!.email, account: shown?.name ?? '', url }).catch(deps.mailFailed)
    noted.target = made.email
    noted.detail = role
    return { invitation: { ...made, url, mailed: mailInvitation !== undefined } }
  })
  on(wire.WITHDRAW_INVITATION, async ({ account }, { params, noted }) => {
    noted.target = (await invitations.revoke(account, params.id)).email
  })

  onStranger(wire.LOOK_INVITATION, (_, { request, body: { token } }) => {
    limits.linksOfCaller.attempt(networkOf(addressOf(request)))
    return invitations.look(token)
  })
  onStranger(wire.ACCEPT_INVITATION, ACCEPT_RULES, async (_, { request, body: { token, password } }) => {
    const address = addressOf(request)
    limits.linksOfCaller.attempt(networkOf(address))
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
    const hash = await accounts.hashFrom(password, address)
    const joined = await invitations.joinAsNew(token, hash)
    const { person: id, account } = joined
    const cookie = await startSession(deps, request, { account, person: id })
    await audit('member_joined', { account, actor: email, detail: role, address })
    return withCookie(jsonAnswer(await answerSession(deps, { account, person: id }, { id, email }), 201), cookie)
  })

  async function findSession(request: Request) {
    const token = deps.cookies.tokenOf(request)
    return token === undefined ? undefined : sessions.find(token)
  }
}

const signInFirst = (isKnown: boolean) =>
  isKnown
    ? new Problem('session_invalid', 'There is a person with this address: sign in with it, then accept.')
    : invalidBody([{ pointer: '/password', detail: 'is required for an address that is new here' }])

const REMOVE_PARAMETERS = { keys: parseChoice(['take'], 'must be take') }
