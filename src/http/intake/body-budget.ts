// The total memory of large bodies and unpacked bodies. It is reserved as the bytes arrive: a body that announces much
// and sends little holds little. No account gets more than its share, so others always have room.
// Small bodies are not counted: the number of connections bounds them, and most events are small.
import { Problem } from '../../problem.ts'
import { MAX_BODY_BYTES } from '../../wire/events.ts'
import { readCounted } from './read-body.ts'

/** Reserves so many more bytes. Throws Problem `busy` when there is no room for them. */
export type Reserve = (bytes: number) => void

export type BodyBudget = ReturnType<typeof createBodyBudget>

const MAX_BYTES = 128 * 1024 * 1024
const UNCOUNTED_BYTES = 64 * 1024

const busy = () =>
  new Problem('busy', 'Too many large bodies are on their way; send this one again.', { retryAfterS: 1 })

/** False also for a body of unknown length. */
export const isSmall = ({ headers }: Request): boolean =>
  Number(headers.get('content-length') ?? Infinity) <= UNCOUNTED_BYTES

/** `shareBytes`: what one account may hold. */
export function createBodyBudget(maxBytes = MAX_BYTES, shareBytes = maxBytes / 2) {
  let total = 0
  const byAccount = new Map<string, number>()

  function change(account: string, bytes: number): void {
    total += bytes
    const held = (byAccount.get(account) ?? 0) + bytes
    if (held === 0) byAccount.delete(account)
    else byAccount.set(account, held)
  }

  return {
    /** Whatever the work reserves is given back when it ends, however it ends. */
    async during<T>(account: string, work: (reserve: Reserve) => Promise<T>): Promise<T> {
      let uncounted = UNCOUNTED_BYTES
      let held = 0
      const reserve = (bytes: number) => {
        const counted = Math.max(0, bytes - uncounted)
        uncounted = Math.max(0, uncounted - bytes)
        if (counted === 0) return
        if (total + counted > maxBytes || (byAccount.get(account) ?? 0) + counted > shareBytes) throw busy()
        held += counted
        change(account, counted)
      }
      try {
        return await work(reserve)
      } finally {
        if (held > 0) change(account, -held)
      }
    },
  }
}

/** The bytes of one event. Of a large body, or one of unknown length, room is reserved as they arrive. */
export const readEventBody = (
  request: Request,
  account: string,
  bodies: BodyBudget,
): Promise<ArrayBuffer | Uint8Array> =>
  isSmall(request)
    ? request.arrayBuffer()
    : bodies.during(account, (reserve) => readCounted(request, MAX_BODY_BYTES, reserve))
