// The account routes on a real socket, behind the same mapping of errors as in the app.
import { type AnyElysia, Elysia } from 'elysia'
import type { Accounts } from '../../../src/account/accounts.ts'
import { createTokenBuckets } from '../../../src/account/token-buckets.ts'
import type { Clock } from '../../../src/clock.ts'
import { mountAccount } from '../../../src/http/accounts/account-routes.ts'
import { mountAudit } from '../../../src/http/accounts/audit-routes.ts'
import { mountKeys } from '../../../src/http/accounts/key-routes.ts'
import { mountOidc } from '../../../src/http/accounts/oidc-routes.ts'
import { mountPeople } from '../../../src/http/accounts/people-routes.ts'
import { createNoteDone, type PeopleDeps } from '../../../src/http/accounts/session-answers.ts'
import { createSessionCookies } from '../../../src/http/accounts/session-cookie.ts'
import { problemResponse } from '../../../src/http/answers.ts'
import { createAuthorize } from '../../../src/http/authorize.ts'
import { errorToProblem } from '../../../src/http/error-to-problem.ts'
import { createMounts } from '../../../src/http/mount.ts'
import { Problem } from '../../../src/problem.ts'
import { type ADA, openFresh } from '../../account/accounts-cast.ts'
import { createCaller } from '../../support/caller.ts'

const LINKS = { limit: 30, windowS: 3600, maxEntries: 100 }
const RESETS = { limit: 10, windowS: 3600, maxEntries: 100 }

export interface Person {
  cookie: string
}

/** Routes of accounts, people and keys. */
export function mountPeopleRoutes(
  app: AnyElysia,
  accounts: Accounts & { clock: Clock },
  more: Partial<PeopleDeps> = {},
): void {
  const { clock } = accounts
  const isOwnHost = () => true
  const cookies = createSessionCookies({ isSecure: more.isSecure ?? (() => false), publicUrl: undefined })
  const deps: PeopleDeps = {
    accounts,
    addressOf: () => '192.0.2.1',
    cookies,
    isSecure: () => false,
    audit: async () => {},
    onDeleted() {},
    passwordSignIn: true,
    nowMs: () => clock.wallUs() / 1000,
    limits: {
      linksOfCaller: createTokenBuckets({ clock, ...LINKS }),
      linksOfAccount: createTokenBuckets({ clock, ...LINKS }),
      resetsOfCaller: createTokenBuckets({ clock, ...RESETS }),
      resetsOfPerson: createTokenBuckets({ clock, ...RESETS }),
    },
    publicUrl: () => 'https://stint.example.com',
    mailFailed() {},
    ...more,
  }
  const authorize = createAuthorize({
    keyHeader: 'x-stint-api-key',
    keyInvalid: new Problem('key_invalid', 'Send a key.'),
    findKey: accounts.findKey,
    cookies,
    findSession: accounts.sessions.find,
    isOperator: accounts.isOperator,
    disputedBy: accounts.disputedBy,
    isSuspended: accounts.suspensions.isSuspended,
    isOwnHost,
  })
  const mounts = createMounts(app, { authorize, isOwnHost, noteDone: createNoteDone(deps) })
  for (const mount of [mountAccount, mountKeys, mountPeople, mountAudit, mountOidc]) mount(mounts, deps)
}

/** Call `stop` in the end. */
export function serveAccounts(options: Parameters<typeof openFresh>[0] & { secure?: boolean } = {}) {
  const { secure = false, ...accountOptions } = options
  const accounts = openFresh(accountOptions)
  const deleted: string[] = []
  const audits: [string, object][] = []
  let address = '192.0.2.1'
  const app = new Elysia({ normalize: false }).onError(({ error }) => {
    const problem = errorToProblem(error)
    if (problem === undefined) console.error(error)
    return problemResponse(problem ?? new Problem('internal', 'a fault'))
  })
  mountPeopleRoutes(app, accounts, {
    addressOf: () => address,
    isSecure: () => secure,
    audit: async (action, fields) => void audits.push([action, fields]),
    onDeleted: (account) => void deleted.push(account),
  })
  app.listen({ port: 0, hostname: '127.0.0.1' })
  const stop = async () => {
    app.server!.stop(true)
    await accounts.close()
  }
  const url = `http://127.0.0.1:${app.server!.port}`

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const answer = await createCaller(url).call(method, path, body, headers)
    return { ...answer, json: answer.json ?? {}, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' }
  }
  const as = (person: Person, method: string, path: string, body?: unknown) =>
    call(method, path, body, { cookie: person.cookie })
  const signUp = async ({ email, password }: Pick<typeof ADA, 'email' | 'password'>) => {
    const { status, cookie, json } = await call('POST', '/api/accounts', { email, password })
    if (status !== 201) throw new Error(`no account: ${status} ${json.code}`)
    return { cookie, account: json.account, key: json.key }
  }
  const from = (other: string) => {
    address = other
  }
  return { accounts, deleted, audits, url, call, as, signUp, from, stop }
}
