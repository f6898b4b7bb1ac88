// Protobuf for OTLP: a message becomes the object of its JSON form (64-bit numbers as decimal text, ids in hex, bytes
// in base64). Unknown fields are skipped. OpenTelemetry's own packages write requests and read answers, but cannot read
// requests.

export type Message = { readonly [field: number]: Field }

interface Field {
  readonly name: string
  readonly as: 'text' | 'hex' | 'base64' | 'fixed64' | 'sfixed64' | 'int' | 'double' | 'bool' | (() => Message)
  readonly many?: true
}

export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

const MAX_DEPTH = 32
/** 4 MiB of spans hold fewer, but 4 MiB of empty messages would be two million, each an object. */
const MAX_FIELDS = 500_000
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws ProtobufError. */
export function readProtobuf(bytes: Uint8Array, message: Message): Record<string, unknown> {
  return readMessage(bytes, message, 0, { fields: 0 })
}

function readMessage(
  bytes: Uint8Array,
  message: Message,
  depth: number,
  read: { fields: number },
): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new ProtobufError('is nested too deeply')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: Record<string, unknown> = {}
  let at = 0

  function nextByte(): number {
    const byte = bytes[at++]
    if (byte === undefined) throw new ProtobufError('ends too early')
    return byte
  }
  /** Exact below 2⁵³, as tags and lengths are. */
  function varint(): number {
    let value = 0
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = nextByte()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
    throw new ProtobufError('holds a number that is too long')
  }
  function int64(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = nextByte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
    throw new ProtobufError('holds a number that is too long')
  }
  function take(length: number): number {
    const start = at
    at += length
    if (at > bytes.length) throw new ProtobufError('ends too early')
    return start
  }
  function chunk(): Uint8Array {
    const length = varint()
    const start = take(length)
    return bytes.subarray(start, start + length)
  }

  const VARINT = 0
  const FIXED64 = 1
  const CHUNK = 2
  const FIXED32 = 5

  function value({ as }: Field, wire: number): unknown {
    if (wire === VARINT && as === 'bool') return varint() !== 0
    if (wire === VARINT && as === 'int') return int64().toString()
    if (wire === FIXED64 && as === 'fixed64') return view.getBigUint64(take(8), true).toString()
    if (wire === FIXED64 && as === 'sfixed64') return view.getBigInt64(take(8), true).toString()
    if (wire === FIXED64 && as === 'double') return view.getFloat64(take(8), true)
    if (wire === CHUNK && (as === 'hex' || as === 'base64')) return Buffer.from(chunk()).toString(as)
    if (wire === CHUNK && as === 'text') return decode(chunk())
    return skip(wire)
  }
  function skip(wire: number): undefined {
    if (wire === VARINT) varint()
    else if (wire === FIXED64) take(8)
    else if (wire === CHUNK) chunk()
    else if (wire === FIXED32) take(4)
    else throw new ProtobufError('holds a field of an unknown type')
    return undefined
  }

  while (at < bytes.length) {
    if (++read.fields > MAX_FIELDS) throw new ProtobufError(`must hold at most ${MAX_FIELDS} fields`)
    const tag = varint()
    const wire = tag % 8
    const field = message[Math.floor(tag / 8)]
    if (field === undefined) {
      skip(wire)
      continue
    }
    const { name, as, many } = field
    const member =
      wire === CHUNK && typeof as === 'function' ? readMessage(chunk(), as(), depth + 1, read) : value(field, wire)
    if (member === undefined) continue
    if (many !== true) found[name] = member
    else if (Array.isArray(found[name])) (found[name] as unknown[]).push(member)
    else found[name] = [member]
  }
  return found
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new ProtobufError('holds text that is not UTF-8', { cause })
  }
}
