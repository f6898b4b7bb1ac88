// What a provider must not get away with: a server that answers as the test says, with its own keys.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createProvider, ProviderError } from '../../src/oidc/provider.ts'

const ALG = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
} as const
const CALLBACK = 'https://stint.example.com/auth/oidc/callback'
const pair = () => crypto.subtle.generateKey(ALG, true, ['sign', 'verify'])
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

let keys: CryptoKeyPair
let foreign: CryptoKeyPair
let server: Bun.Server<undefined>
/** Changes the claims and how they are signed. */
let answer: {
  claims?: Record<string, unknown>
  signer?: CryptoKeyPair
  alg?: string
  userinfo?: object
  status?: number
  issuer?: string
}
let nonce = ''

beforeAll(async () => {
  keys = await pair()
  foreign = await pair()
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
})
afterAll(() => server.stop(true))
beforeEach(() => {
  answer = {}
})

const issuer = () => `http://127.0.0.1:${server.port}`

async function respond(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/.well-known/openid-configuration')
    return Response.json({
      issuer: answer.issuer ?? issuer(),
      authorization_endpoint: `${issuer()}/auth`,
      token_endpoint: `${issuer()}/token`,
      userinfo_endpoint: `${issuer()}/me`,
      jwks_uri: `${issuer()}/jwks`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
    })
  if (pathname === '/jwks') {
    const { kty, n, e } = await crypto.subtle.exportKey('jwk', keys.publicKey)
    return Response.json({ keys: [{ kty, n, e, kid: 'k', use: 'sig', alg: 'RS256' }] })
  }
  if (pathname === '/me') return Response.json({ sub: 'ada', ...answer.userinfo })
  if (answer.status !== undefined) return new Response('out of order', { status: answer.status })
  return Response.json({ access_token: 'a', token_type: 'Bearer', id_token: await idToken() })
}

async function idToken(): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer(), aud: 'stint', sub: 'ada', iat: now, exp: now + 60, nonce, ...answer.claims }
  const text = `${base64({ alg: answer.alg ?? 'RS256', kid: 'k' })}.${base64(claims)}`
  if (answer.alg === 'none') return `${text}.`
  const mac = await crypto.subtle.sign(ALG, (answer.signer ?? keys).privateKey, Buffer.from(text))
  return `${text}.${Buffer.from(mac).toString('base64url')}`
}

async function signIn(more = '') {
  const provider = createProvider({ issuer: issuer(), clientId: 'stint', clientSecret: 's' })
  const { url, attempt } = await provider.begin(CALLBACK)
  nonce = new URL(url).searchParams.get('nonce')!
  return provider.finish(CALLBACK, `?code=c&state=${attempt.state}${more}`, attempt)
}
const faultOf = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => undefined,
    (error) => error,
  )
  return error instanceof ProviderError ? error.kind : error
}

test('the proof holds issuer, subject and address, and whether it is verified', async () => {
  answer = { userinfo: { email: 'ada@example.com', email_verified: true, groups: ['a'] } }
  expect(await signIn()).toMatchObject({
    issuer: issuer(),
    subject: 'ada',
    email: 'ada@example.com',
    isEmailVerified: true,
    claims: { groups: ['a'] },
  })
  answer = { userinfo: { email: 'ada@example.com', email_verified: 'true' } }
  expect(await signIn()).toMatchObject({ isEmailVerified: false })
})

test('the browser is sent with PKCE, state and nonce', async () => {
  const { url } = await createProvider({ issuer: issuer(), clientId: 'stint', clientSecret: 's' }).begin(CALLBACK)
  const { searchParams } = new URL(url)
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: 'stint',
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid email profile',
    code_challenge_method: 'S256',
  })
  for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)!.length).toBeGreaterThan(40)
})

const seconds = (s: number) => Math.floor(Date.now() / 1000) + s

test.each<[string, () => typeof answer]>([
  ['another issuer', () => ({ claims: { iss: 'https://evil.example' } })],
  ['another audience', () => ({ claims: { aud: 'other' } })],
  ['another nonce', () => ({ claims: { nonce: 'n' } })],
  ['no nonce', () => ({ claims: { nonce: undefined } })],
  ['an empty subject', () => ({ claims: { sub: '' }, userinfo: { sub: '' } })],
  ['another authorized party', () => ({ claims: { azp: 'other' } })],
  ['a signature by other keys', () => ({ signer: foreign })],
  ['no signature', () => ({ alg: 'none' })],
  ['a token that ended two minutes ago', () => ({ claims: { exp: seconds(-120) } })],
  ['a token from the future', () => ({ claims: { nbf: seconds(300) } })],
  ['user data of another subject', () => ({ userinfo: { sub: 'eve' } })],
  ['a refused code', () => ({ status: 400 })],
])('%s is refused', async (_, forge) => {
  answer = forge()
  expect(await faultOf(signIn())).toBe('refused')
})

test('an answer of another issuer is refused (RFC 9207)', async () => {
  expect(await faultOf(signIn('&iss=https%3A%2F%2Fevil.example'))).toBe('refused')
})

test('clocks may differ by a minute', async () => {
  answer = { claims: { iat: seconds(50), nbf: seconds(50), exp: seconds(110) } }
  expect(await signIn()).toMatchObject({ subject: 'ada' })
  answer = { claims: { iat: seconds(-100), exp: seconds(-40) } }
  expect(await signIn()).toMatchObject({ subject: 'ada' })
})

test('a provider that does not accept the client is no refusal of the person', async () => {
  answer = { status: 401 }
  expect(await faultOf(signIn())).toBe('misconfigured')
})

test('a provider that fails, is another one, or is gone is not available', async () => {
  answer = { status: 503 }
  expect(await faultOf(signIn())).toBe('unavailable')
  answer = { issuer: 'https://evil.example' }
  expect(await faultOf(signIn())).toBe('unavailable')
  const gone = createProvider({ issuer: 'http://127.0.0.1:9', clientId: 'stint', clientSecret: 's' })
  expect(await faultOf(gone.begin(CALLBACK))).toBe('unavailable')
})
