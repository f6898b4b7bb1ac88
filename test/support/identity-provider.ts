// A real provider of identities (oidc-provider, certified) in this process, at which one user is signed in without being asked.
import type { Server } from 'node:http'
import Provider, { type InteractionResults } from 'oidc-provider'

export interface ProviderUser {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly groups?: readonly string[]
}

export interface IdentityProvider {
  readonly issuer: string
  /** Who is signed in there now; undefined: the user refuses. */
  user: ProviderUser | undefined
  /** Signs with other keys from now on, at the same address. */
  rotateKeys(): Promise<void>
  stop(): Promise<void>
}

export const CLIENT = { id: 'stint', secret: 'secret of the client %/+' } as const

/** `callbacks`: the addresses that users may be sent back to. */
export async function startIdentityProvider(port: number, callbacks: string[]): Promise<IdentityProvider> {
  const issuer = `http://127.0.0.1:${port}`
  let user: ProviderUser | undefined
  let server = await open()

  async function open(): Promise<Server> {
    const { privateKey } = await crypto.subtle.generateKey(RSA, true, ['sign', 'verify'])
    const { key_ops: _, ext: __, ...key } = await crypto.subtle.exportKey('jwk', privateKey)
    const provider = new Provider(issuer, {
      clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: callbacks }],
      jwks: { keys: [{ ...key, kid: crypto.randomUUID(), use: 'sig', alg: 'RS256' }] },
      cookies: { keys: ['a key of the tests'] },
      claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: async (_, sub) => ({ accountId: sub, claims: async () => ({ ...user, sub }) }),
    })
    provider.use(async (ctx, next) => {
      if (!ctx.path.startsWith('/interaction/')) return next()
      const { prompt, params, session, grantId } = await provider.interactionDetails(ctx.req, ctx.res)
      if (user === undefined) return finish({ error: 'access_denied' })
      if (prompt.name === 'login') return finish({ login: { accountId: user.sub, remember: false } })
      const grant =
        (grantId && (await provider.Grant.find(grantId))) ||
        new provider.Grant({ accountId: session!.accountId, clientId: params.client_id as string })
      grant.addOIDCScope('openid email profile')
      return finish({ consent: { grantId: await grant.save() } })

      async function finish(result: InteractionResults) {
        ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: true }))
      }
    })
    return new Promise((resolve) => {
      const listening = provider.listen(port, '127.0.0.1', () => resolve(listening))
    })
  }
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })

  return {
    issuer,
    get user() {
      return user
    },
    set user(next) {
      user = next
    },
    async rotateKeys() {
      await close()
      server = await open()
    },
    stop: close,
  }
}

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
} as const

/** A browser that follows redirects and keeps cookies per host. */
export function createBrowser() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) => {
    const jar = jars.get(url.host) ?? new Map<string, string>()
    jars.set(url.host, jar)
    return jar
  }
  async function visit(address: string | URL, accept = 'application/json'): Promise<Response> {
    const url = new URL(address)
    const jar = jarOf(url)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie, accept } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /Max-Age=0/i.test(line) || /1970/.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
  return {
    visit,
    cookies: (address: string) => jarOf(new URL(address)),
    /** Follows redirects until the host is `host` and the path begins with `path`, which is not requested; resolves to that address. */
    async follow(address: string, host: string, path: string): Promise<string> {
      let url = new URL(address)
      for (let hops = 0; hops < 20; hops++) {
        const location = (await visit(url)).headers.get('location')
        if (location === null) throw new Error(`no redirect from ${url.host}${url.pathname}`)
        url = new URL(location, url)
        if (url.host === host && url.pathname.startsWith(path)) return url.href
      }
      throw new Error('too many redirects')
    },
  }
}
