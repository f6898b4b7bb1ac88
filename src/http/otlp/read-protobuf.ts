// Protobuf, as far as OTLP needs it: a message becomes the object that its JSON form has (64-bit numbers as decimal text, identifiers in
// hexadecimal). Unknown fields are skipped. OpenTelemetry's own packages can write requests and read answers, but not read requests.

export type Message = { readonly [field: number]: Field }

interface Field {
  readonly name: string
  readonly as: 'text' | 'hex' | 'fixed64' | 'sfixed64' | 'int' | 'double' | 'bool' | (() => Message)
  readonly many?: true
}

export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

const MAX_DEPTH = 32
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws ProtobufError. */
export function readProtobuf(bytes: Uint8Array, message: Message, depth = 0): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new ProtobufError('is nested too deeply')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found: Record<string, unknown> = {}
  let at = 0

  function varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new ProtobufError('ends too early')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
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
    const length = Number(varint())
    const start = take(length)
    return bytes.subarray(start, start + length)
  }

  const VARINT = 0
  const FIXED64 = 1
  const CHUNK = 2
  const FIXED32 = 5

  function read({ as }: Field, wire: number): unknown {
    if (wire === VARINT && as === 'bool') return varint() !== 0n
    if (wire === VARINT && as === 'int') return BigInt.asIntN(64, varint()).toString()
    if (wire === FIXED64 && as === 'fixed64') return view.getBigUint64(take(8), true).toString()
    if (wire === FIXED64 && as === 'sfixed64') return view.getBigInt64(take(8), true).toString()
    if (wire === FIXED64 && as === 'double') return view.getFloat64(take(8), true)
    if (wire === CHUNK && as === 'hex') return Buffer.from(chunk()).toString('hex')
    if (wire === CHUNK && as === 'text') return decode(chunk())
    if (wire === CHUNK && typeof as === 'function') return readProtobuf(chunk(), as(), depth + 1)
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
    const tag = Number(varint())
    const field = message[Math.floor(tag / 8)]
    const value = field === undefined ? skip(tag % 8) : read(field, tag % 8)
    if (field === undefined || value === undefined) continue
    if (field.many !== true) found[field.name] = value
    else if (Array.isArray(found[field.name])) (found[field.name] as unknown[]).push(value)
    else found[field.name] = [value]
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
