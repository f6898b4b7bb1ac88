// A caller of Stint's HTTP API, with a key, a session, or neither.

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON came; the tests say what it must be
  readonly json: any
}

/** Status, code and pointers of a refusal. */
export const faultsOf = ({ status, json }: Answer) => [
  ...[status, json.code],
  ...(json.errors as { pointer: string }[]).map(({ pointer }) => pointer),
]

export interface Credentials {
  /** The secret of a key. */
  readonly key?: string | undefined
  /** A session as a cookie header. */
  readonly cookie?: string | undefined
  readonly serviceName?: string
}

type HeaderList = Readonly<Record<string, string>>

export interface ApiCaller {
  /** `body` is sent as JSON; a string or bytes as they are, as JSON too. */
  call(method: string, path: string, body?: unknown, headers?: HeaderList): Promise<Answer>
  get(path: string, headers?: HeaderList): Promise<Answer>
  post(path: string, body: unknown, headers?: HeaderList): Promise<Answer>
  patch(path: string, body: unknown): Promise<Answer>
  delete(path: string): Promise<Answer>
}

export type SignedUp = Awaited<ReturnType<typeof signUpAt>>

export const PASSWORD = 'a long enough password of a test'

export const keyHeader = (secret: string, serviceName = 'stint'): Record<string, string> => ({
  [`x-${serviceName}-api-key`]: secret,
})

export async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response
  const text = await response.text()
  const isJson = /^application\/(problem\+)?json$/.test(headers.get('content-type') ?? '')
  return { status, headers, text, json: isJson && text !== '' ? JSON.parse(text) : undefined }
}

export function createCaller(url: string, { key, cookie, serviceName }: Credentials = {}): ApiCaller {
  const credentials = { ...(key && keyHeader(key, serviceName)), ...(cookie && { cookie }) }
  const call: ApiCaller['call'] = async (method, path, body, headers = {}) => {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { ...credentials, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isText ? (body as BodyInit) : JSON.stringify(body) }),
    })
    return readAnswer(response)
  }
  return {
    call,
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  }
}

/** A session of somebody who has an account. */
export async function signInAt(url: string, email = 'ada@example.com', password = PASSWORD): Promise<ApiCaller> {
  const { headers } = await createCaller(url).post('/api/session', { email, password })
  return createCaller(url, { cookie: headers.get('set-cookie')!.split(';')[0]! })
}

/** Creates an account over HTTP. Throws when it is refused. */
export async function signUpAt(url: string, email = 'ada@example.com', more: { readonly setup_code?: string } = {}) {
  return signedUp(url, await createCaller(url).post('/api/accounts', { email, password: PASSWORD, ...more }))
}

/** Where an address is proved first: with the token of the link, which `tokenOf` finds in its mail. */
export async function signUpByMail(url: string, email: string, tokenOf: () => Promise<string>) {
  const caller = createCaller(url)
  const answer = await caller.post('/api/accounts', { email, password: PASSWORD })
  if (answer.status !== 202) return signedUp(url, answer)
  return signedUp(url, await caller.post('/api/accounts/confirm', { token: await tokenOf(), password: PASSWORD }))
}

function signedUp(url: string, { status, headers, text, json }: Awaited<ReturnType<ApiCaller['post']>>) {
  if (status !== 201) throw new Error(`no account: ${status} ${text}`)
  const { id: keyId, secret } = json.key as { id: string; secret: string }
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  const [byKey, bySession] = [createCaller(url, { key: secret }), createCaller(url, { cookie })]
  return { account: json.account.id as string, keyId, secret, cookie, byKey, bySession }
}
