// Which (series, stamp) has which content, by 53 bits of the one and 32 of the other. Two generations of one size: when
// the young one is full it becomes the old one, and the old one is forgotten.
import type { Stamp } from './stamp.ts'

/** A 64-bit hash as two numbers: BigInt is too slow for a walk along thousands of values. */
export type Hash = readonly [low: number, high: number]

/** Slots per generation: 8 bytes each, at most half of them used. */
const SLOTS = 2 ** 21

export type TakenStamps = ReturnType<typeof createTakenStamps>

/** `slots`: a power of two. */
export function createTakenStamps(slots = SLOTS) {
  let young = new Uint32Array(2 * slots)
  let old: Uint32Array | undefined
  let count = 0
  const mask = slots - 1
  /** Two independent hashes of series and stamp; the second is never 0. */
  let slot = 0
  let key = 0

  function locate([low, high]: Hash, { us, sub }: Stamp): void {
    const a = mix(low ^ (us % 2 ** 32) ^ Math.imul(sub + 1, 0x9e3779b1))
    const b = mix(high ^ Math.floor(us / 2 ** 32) ^ Math.imul(a, 0x85ebca6b))
    slot = mix(a ^ b) & mask
    key = b >>> 0 || 1
  }

  /** The place of the located key in a table: its entry, or the empty one where it belongs. */
  function placeIn(table: Uint32Array): number {
    let at = slot
    while (table[2 * at] !== 0 && table[2 * at] !== key) at = (at + 1) & mask
    return 2 * at
  }

  return {
    /** True also when this very content has it. */
    isFree(series: Hash, stamp: Stamp, content: number): boolean {
      locate(series, stamp)
      let at = placeIn(young)
      if (young[at] !== 0) return young[at + 1] === content
      if (old === undefined) return true
      at = placeIn(old)
      return old[at] === 0 || old[at + 1] === content
    },
    take(series: Hash, stamp: Stamp, content: number): void {
      if (count >= slots / 2) {
        old = young
        young = new Uint32Array(2 * slots)
        count = 0
      }
      locate(series, stamp)
      const at = placeIn(young)
      if (young[at] === 0) count++
      young[at] = key
      young[at + 1] = content
    },
    /** Both generations, for `load` of a table of the same size. */
    save(): Uint32Array {
      const [first, second] = [entriesOf(young), old === undefined ? [] : entriesOf(old)]
      return Uint32Array.from([slots, first.length / 3, second.length / 3, ...first, ...second])
    },
    /** False, and nothing is loaded, when `saved` is not of such a table. */
    load(saved: Uint32Array): boolean {
      const [size, first = 0, second = 0] = saved
      if (size !== slots || saved.length !== 3 + 3 * (first + second)) return false
      young = tableOf(saved.subarray(3, 3 + 3 * first), slots)
      old = second === 0 ? undefined : tableOf(saved.subarray(3 + 3 * first), slots)
      count = first
      return true
    },
  }
}

/** Place, key and content of each entry. */
function entriesOf(table: Uint32Array): number[] {
  const entries: number[] = []
  for (let at = 0; at < table.length; at += 2) if (table[at] !== 0) entries.push(at, table[at]!, table[at + 1]!)
  return entries
}

function tableOf(entries: Uint32Array, slots: number): Uint32Array<ArrayBuffer> {
  const table = new Uint32Array(2 * slots)
  for (let i = 0; i < entries.length; i += 3) {
    table[entries[i]!] = entries[i + 1]!
    table[entries[i]! + 1] = entries[i + 2]!
  }
  return table
}

/** The finalizer of MurmurHash3. */
function mix(h: number): number {
  let x = h ^ (h >>> 16)
  x = Math.imul(x, 0x85ebca6b)
  x ^= x >>> 13
  x = Math.imul(x, 0xc2b2ae35)
  return x ^ (x >>> 16)
}
