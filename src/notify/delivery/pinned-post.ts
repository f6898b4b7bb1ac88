// An HTTP POST to a URL that a caller chose. Invariants:
// * It connects to addresses that were checked: the name is not resolved again, which defeats DNS rebinding.
//   Redirects are not followed.
// * The time and the number of bytes read are bounded.
// * The head decides: an answer counts whatever happens to its body.
import { lookup as lookUp } from 'node:dns/promises'
import { BlockList, connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { DeliveryError } from './delivery-error.ts'

/** All addresses of a host name. */
export type Resolve = (host: string) => Promise<readonly string[]>

export interface PostOptions {
  readonly resolve?: Resolve
  /** Allows loopback and private addresses. */
  readonly allowPrivate: boolean
  readonly timeoutMs?: number
  /** Additional trusted certificates, for tests. */
  readonly ca?: string
}

interface PostAnswer {
  readonly status: number
  /** The beginning of the body, as text. */
  readonly text: string
  readonly retryAfterS?: number
}

const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 4096
/** A head decides; the body is only shown, and awaited for so long. */
const BODY_MS = 500

export const resolveHost: Resolve = async (host) => (await lookUp(host, { all: true })).map(({ address }) => address)

/** Resolves with any status. Rejects with DeliveryError without an answer. */
export async function pinnedPost(
  address: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { resolve = resolveHost, allowPrivate, timeoutMs = TIMEOUT_MS, ca }: PostOptions,
): Promise<PostAnswer> {
  if (!URL.canParse(address)) throw new DeliveryError('The URL is invalid.')
  const url = new URL(address)
  const { promise: expired, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new DeliveryError(`No answer within ${timeoutMs / 1000} s.`)), timeoutMs)
  let socket: Socket | undefined
  const post = async () => {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const addresses = await findAddresses(host, resolve, allowPrivate)
    const isTls = url.protocol === 'https:'
    const port = Number(url.port || (isTls ? 443 : 80))
    const request = requestText(url, headers, body)
    for (const [i, ip] of addresses.entries()) {
      socket = isTls
        ? connectTls({ host: ip, port, ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) })
        : connect({ host: ip, port })
      const exchanged = exchange(socket, isTls ? 'secureConnect' : 'connect', request)
      try {
        return await exchanged
      } catch (error) {
        // Nothing was sent to an address that refuses the connection.
        if (i === addresses.length - 1 || !REFUSED.includes(codeOf(error))) throw error
      }
    }
    throw new DeliveryError('The host name does not resolve.')
  }
  try {
    return await Promise.race([post(), expired])
  } finally {
    clearTimeout(timer)
    socket?.destroy()
  }
}

const REFUSED = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']
const codeOf = (error: unknown): string => ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? ''

async function findAddresses(host: string, resolve: Resolve, allowPrivate: boolean): Promise<readonly string[]> {
  const found = isIP(host) === 0 ? await resolve(host).catch(() => []) : [host]
  if (found.length === 0) throw new DeliveryError('The host name does not resolve.')
  if (allowPrivate) return found
  // A private address among public ones is no accident and is not worked around.
  if (!found.every(isPublicAddress))
    throw new DeliveryError(
      'The host is not a public address. The operator can allow private ones with NOTIFY_PRIVATE=true.',
    )
  return found
}

function requestText(url: URL, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const all = {
    host: url.host,
    'user-agent': 'stint',
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}`)
  const head = [`POST ${url.pathname}${url.search} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

/** Sends the request once connected, and reads the head of the answer and the beginning of its body. */
function exchange(socket: Socket, ready: 'connect' | 'secureConnect', request: Buffer): Promise<PostAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<PostAnswer>()
  let received: Buffer = Buffer.alloc(0)
  let timer: Timer | undefined
  const finish = (error = new DeliveryError('The connection ended without an HTTP answer.')) => {
    clearTimeout(timer)
    const head = parseHead(received)
    if (head === undefined) reject(error)
    else resolve(toAnswer(head, received))
  }
  socket.once(ready, () => socket.write(request))
  socket.on('data', (chunk: Buffer) => {
    received = withoutInterim(Buffer.concat([received, chunk]).subarray(0, 4 * MAX_ANSWER_BYTES))
    const head = parseHead(received)
    if (received.length >= 4 * MAX_ANSWER_BYTES || (head && isComplete(head, received))) finish()
    else if (head) timer ??= setTimeout(finish, BODY_MS)
  })
  socket.once('end', () => finish())
  socket.once('close', () => finish())
  socket.once('error', (cause: Error & { code?: string }) =>
    finish(new DeliveryError(`The connection failed${cause.code ? `: ${cause.code}` : ''}.`, { cause })),
  )
  return promise
}

interface Head {
  readonly status: number
  readonly text: string
  readonly length: number
}

function parseHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  const text = bytes.subarray(0, Math.max(0, end)).toString('latin1')
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]
  return status === undefined ? undefined : { status: Number(status), text, length: end + 4 }
}

/** 100 and 103 announce an answer. */
function withoutInterim(bytes: Buffer): Buffer {
  const head = parseHead(bytes)
  return head === undefined || head.status >= 200 ? bytes : withoutInterim(bytes.subarray(head.length))
}

const isChunked = ({ text }: Head): boolean => /^transfer-encoding:.*chunked/im.test(text)

/** Whether a body of known length is complete; one of unknown length ends with the connection or its last chunk. */
function isComplete(head: Head, bytes: Buffer): boolean {
  if (head.status === 204 || head.status === 304) return true
  if (isChunked(head)) return bytes.subarray(-5).toString() === '0\r\n\r\n'
  const length = /^content-length:\s*(\d+)\s*$/im.exec(head.text)?.[1]
  return length !== undefined && bytes.length - head.length >= Number(length)
}

function toAnswer(head: Head, bytes: Buffer): PostAnswer {
  const body = bytes.subarray(head.length, head.length + MAX_ANSWER_BYTES).toString()
  const retryAfterS = /^retry-after:\s*(\d{1,6})\s*$/im.exec(head.text)?.[1]
  return {
    status: head.status,
    text: isChunked(head) ? body.replace(/(^|\r\n)[0-9a-f]+(;[^\r\n]*)?\r\n/gi, '') : body,
    ...(retryAfterS !== undefined && { retryAfterS: Number(retryAfterS) }),
  }
}

// Addresses that no notification is sent to: this machine, its network, its cloud's services, so that a caller cannot
// make Stint send requests there. The lists are those of the IANA special-purpose registries.
const SPECIAL_V4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8], // this host
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // shared by carriers
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local; the metadata of clouds
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved and broadcast
]

const special = new BlockList()
for (const [network, bits] of SPECIAL_V4) special.addSubnet(network, bits, 'ipv4')

/** Only `2000::/3` is allocated; these parts of it are not for hosts, or contain an IPv4 address. */
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')
const specialV6 = new BlockList()
specialV6.addSubnet('2001::', 23, 'ipv6') // protocols, Teredo among them
specialV6.addSubnet('2001:db8::', 32, 'ipv6')
specialV6.addSubnet('2002::', 16, 'ipv6') // 6to4
specialV6.addSubnet('3fff::', 20, 'ipv6')

/** True for a globally reachable address. IPv4 addresses within IPv6 ones (mapped, NAT64) are not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !special.check(address, 'ipv4')
  if (version !== 6 || address.includes('%')) return false
  return globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6')
}
