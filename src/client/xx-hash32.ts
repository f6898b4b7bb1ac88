// XXH32 with seed 0, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md: names of backlog files hold that of the address.

const [P1, P2, P3, P4, P5] = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1]
const rotate = (x: number, bits: number) => (x << bits) | (x >>> (32 - bits))

export function xxHash32(text: string): number {
  const bytes = new TextEncoder().encode(text)
  const view = new DataView(bytes.buffer)
  const { length } = bytes
  let at = 0
  let hash = P5
  if (length >= 16) {
    const lanes = [P1 + P2, P2, 0, -P1]
    for (; at + 16 <= length; at += 16)
      for (let i = 0; i < 4; i++)
        lanes[i] = Math.imul(rotate(lanes[i]! + Math.imul(view.getUint32(at + 4 * i, true), P2), 13), P1)
    hash = [1, 7, 12, 18].reduce((sum, bits, i) => sum + rotate(lanes[i]!, bits), 0)
  }
  hash = (hash + length) | 0
  for (; at + 4 <= length; at += 4) hash = Math.imul(rotate(hash + Math.imul(view.getUint32(at, true), P3), 17), P4)
  for (; at < length; at++) hash = Math.imul(rotate(hash + Math.imul(bytes[at]!, P5), 11), P1)
  hash = Math.imul(hash ^ (hash >>> 15), P2)
  hash = Math.imul(hash ^ (hash >>> 13), P3)
  return (hash ^ (hash >>> 16)) >>> 0
}
