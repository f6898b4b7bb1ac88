// Turns of the event loop. All that builds, sorts, encodes or judges rows counts its steps here: within one turn of the
// loop all of it together takes about 2048 steps, and what has more to do waits in a line, one work for each turn. So
// however many questions are being answered, an event that comes in waits for a few such slices: to be read, for its
// commit (spool/group.ts) and for its answer. Steps are counted, not timed: a question does the same work on every
// machine. They are weighed by time, 0.03 to 0.3 µs each. The loop is one for the process, and so is this.

const STEPS = 2048
/** Texts are encoded, parsed and searched at about so many characters in a step. */
const CHARS = 64
/** Texts are understood at so many: fingerprints and headlines. */
const CHARS_READ = 8

const waiting: (() => void)[] = []
let spent = 0
let isAwaited = false

function begin(): void {
  spent = 0
  isAwaited = false
  const next = waiting.shift()
  if (next === undefined) return
  awaitTurn()
  next()
}

function awaitTurn(): void {
  if (isAwaited) return
  isAwaited = true
  setImmediate(begin)
}

/** `if (spend(n)) await rest()`: an await per step would cost more than the step. */
export function spend(steps = 1): boolean {
  spent += steps
  awaitTurn()
  return spent >= STEPS
}

export function rest(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.push(resolve)
  awaitTurn()
  return promise
}

/** The steps for a text. */
export const stepsOf = (text: string): number => text.length / CHARS
/** The steps for a row and the fingerprint or headline of its text. */
export const stepsOfReading = (text: string): number => 4 + text.length / CHARS_READ

const PIECE_BYTES = 64 * 1024

/** However long the chunks are. */
export async function decodeInTurns(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of chunks)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES)
      text += decoder.decode(piece, { stream: true })
      if (spend(piece.length / CHARS)) await rest()
    }
  return text + decoder.decode()
}

/** `steps`: those of an item. */
export async function mapInTurns<T, R>(
  items: Iterable<T>,
  map: (item: T, i: number) => R,
  steps: (item: T) => number = () => 4,
): Promise<R[]> {
  const mapped: R[] = []
  let i = 0
  for (const item of items) {
    mapped.push(map(item, i++))
    if (spend(steps(item))) await rest()
  }
  return mapped
}

/** Of items with the same key the last one stays. */
export async function indexInTurns<T, K, V>(
  items: Iterable<T>,
  entry: (item: T) => readonly [K, V],
): Promise<Map<K, V>> {
  const index = new Map<K, V>()
  for (const item of items) {
    index.set(...entry(item))
    if (spend(4)) await rest()
  }
  return index
}

export async function groupInTurns<T, K>(items: readonly T[], keyOf: (item: T) => K): Promise<Map<K, T[]>> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
    if (spend(2)) await rest()
  }
  return groups
}

/** As `toSorted`: runs that fit into a part of a turn, then merged in pairs. */
export async function sortInTurns<T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  const length = 256
  let runs: T[][] = []
  for (let from = 0; from < items.length; from += length) {
    runs.push(items.slice(from, from + length).sort(compare))
    if (spend(2 * length)) await rest()
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i]!, runs[i + 1]]
      merged.push(right === undefined ? left : await merge(left, right, compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  const merged: T[] = []
  for (let [i, j] = [0, 0]; i < left.length || j < right.length; ) {
    const isLeft = j === right.length || (i < left.length && compare(left[i]!, right[j]!) <= 0)
    merged.push(isLeft ? left[i++]! : right[j++]!)
    if (spend()) await rest()
  }
  return merged
}
