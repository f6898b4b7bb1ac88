// Members, roles and invitations over HTTP. Tokens of invitations travel in bodies and fragments, never in paths.

import { newEmail, normalizeEmail, passwordFault } from '../../account/credentials.ts'
import { networkOf } from '../../account/networks.ts'
import { invalidBody, Problem } from '../../problem.ts'
import { parseParameters } from '../../query/question.ts'
import * as disputes from '../../wire/disputes.ts'
import * as wire from '../../wire/people.ts'
import { jsonAnswer } from '../answers.ts'
import { roleMissing } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import {
  answerSession,
  findSession,
  noteClaims,
  type PeopleDeps,
  requirePasswords,
  startSession,
  withCookie,
} from './session-answers.ts'

const INVITE_RULES = {
  email: (email: string) => (newEmail(email) === undefined ? 'must be an e-mail address' : undefined),
}
const NOT_MAILED = 'Nothing was sent: the address had three e-mails within 24 hours.'
const ACCEPT_RULES = { password: (password: string) => passwordFault(password)?.detail }

export function mountPeople({ on, onStranger }: Mounts, deps: PeopleDeps): void {
  const { accounts, addressOf, audit, limits, mails } = deps
  const { invitations, members, people, sessions, strangerMails, tickets } = accounts

  on(wire.LIST_MEMBERS, async ({ account, role }) => ({
    members: await members.list(account),
    invitations: role === 'owner' ? await invitations.list(account) : [],
  }))
  on(wire.CHANGE_MEMBER, async ({ account }, { params, body: { role }, noted }) => {
    const before = (await members.list(account)).find(({ id }) => id === params.id)
    const member = await members.changeRole({ account, person: params.id }, role)
    noted.target = member.email
    noted.detail = before === undefined ? role : `${before.role} → ${role}`
    return { member }
  })
  on(wire.REMOVE_MEMBER, async ({ account, role, session }, { request, params, noted }) => {
    if (params.id !== session!.person && role !== 'owner') throw roleMissing('owner')
    const { keys } = parseParameters(wire.REMOVE_MEMBER, new URL(request.url).searchParams)
    const member = (await members.list(account)).find(({ id }) => id === params.id)
    noted.target = member?.email ?? params.id
    const heir = keys === 'take' ? { id: session!.person, email: session!.email } : undefined
    await members.remove({ account, person: params.id }, heir)
  })
  on(wire.INVITE, INVITE_RULES, async ({ account, session }, { body: { email, role }, noted }) => {
    limits.linksOfAccount.attempt(account)
    const by = { account, person: session!.person }
    const { isClaim, isProved } = await people.proofOf(by.person)
    if (isClaim && strangerMails.isLimited)
      throw new Problem('address_unproved', 'Open the link that the page Account sends to your address, then invite.')
    const mayMail = mails && strangerMails.taking
    const { token, isMailed, ...made } = await invitations.create(by, normalizeEmail(email)!, role, mayMail)
    const url = `${deps.publicUrl()}/#/invitation?token=${token}`
    const named = strangerMails.isLimited
      ? { ...(isProved && { by: session!.email }) }
      : { by: session!.email, account: (await accounts.get(account))?.name ?? '' }
    const isOpen = () =>
      invitations.look(token).then(
        () => true,
        () => false,
      )
    const link = async () => ((await isOpen()) ? url : undefined)
    const mailed = isMailed ? await mails?.invitation(made.email, { id: made.id, ...named, link }) : undefined
    if (isMailed) accounts.use.addEmail(account)
    noted.target = made.email
    noted.detail = role
    const mail = mailed?.detail ?? (mails === undefined ? null : NOT_MAILED)
    return { invitation: { ...made, url, mailed: mailed?.ok === true, mail } }
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
    const session = await findSession(deps, request)
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
    if (strangerMails.isLimited) mailConfirmation(id, email).catch(deps.mailFailed)
    return withCookie(jsonAnswer(await answerSession(deps, { account, person: id }, { id, email }), 201), cookie)
  })

  on(disputes.REQUEST_CONFIRMATION, async (asker) => {
    const { person, email } = asker.session!
    if (mails === undefined) throw new Problem('not_found', 'E-mail is not set up here.')
    limits.linksOfAccount.attempt(person)
    if (!(await people.proofOf(person)).isProved) mailConfirmation(person, email).catch(deps.mailFailed)
    return { sent: true as const }
  })
  onStranger(disputes.CONFIRM_ADDRESS, async (_, { request, body: { token } }) => {
    const address = addressOf(request)
    limits.linksOfCaller.attempt(networkOf(address))
    const id = await tickets.redeem(token, 'confirm')
    const proved = id === undefined ? undefined : await people.proveAddress(id, await findSession(deps, request))
    if (proved === undefined) throw new Problem('credentials_invalid', 'The link has expired or was already used.')
    const { email, disputed, hasEnded } = proved
    await audit('address_confirmed', { account: (await people.landing(proved.id)).account, actor: email, address })
    await noteClaims(deps, { disputed, email, address })
    return { email, password_ended: hasEnded }
  })

  async function mailConfirmation(person: string, email: string): Promise<void> {
    if (!(await strangerMails.take(email))) return
    await mails?.confirmation(email, async () => {
      if ((await people.find(email))?.id !== person || (await people.proofOf(person)).isProved) return undefined
      return `${deps.publicUrl()}/#/confirm?token=${await tickets.issue(person, 'confirm')}`
    })
  }
}

const signInFirst = (isKnown: boolean) =>
  isKnown
    ? new Problem('session_invalid', 'There is a person with this address: sign in with it, then accept.')
    : invalidBody([{ pointer: '/password', detail: 'is required for an address that is new here' }])
