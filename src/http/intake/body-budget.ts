// The memory that bodies on their way in may take together: each may trickle for a minute, and there may be thousands. Small ones are not
// counted: what they take is bounded by the number of connections, and most events are small.
import { Problem } from '../../problem.ts'
import { readBytes } from './read-body.ts'

export interface BodyBudget {
  /** Holds so many bytes until the work is done, however it ends. Throws Problem `busy` when there is no room for them. */
  during<T>(bytes: number, work: () => Promise<T>): Promise<T>
}

const MAX_HELD_BYTES = 256 * 1024 * 1024
const UNCOUNTED_BYTES = 64 * 1024

/** What a body may come to: its Content-Length, without one (or when it comes packed) the most that its path takes. */
export function bytesToHold({ headers }: Request, maxBytes: number, isPacked = false): number {
  const length = isPacked ? null : headers.get('content-length')
  return length === null ? maxBytes : Number(length)
}

export function createBodyBudget(maxHeldBytes = MAX_HELD_BYTES): BodyBudget {
  let heldBytes = 0

  async function hold<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (heldBytes + bytes > maxHeldBytes)
      throw new Problem('busy', 'Too many large bodies are on their way in; send this one again.', { retryAfterS: 1 })
    heldBytes += bytes
    try {
      return await work()
    } finally {
      heldBytes -= bytes
    }
  }

  return { during: (bytes, work) => (bytes <= UNCOUNTED_BYTES ? work() : hold(bytes, work)) }
}

/** Elysia reads a body by `request.arrayBuffer()`: of a large one, or one of unknown length, that now counts its bytes and holds room for them. */
export function boundBody(request: Request, maxBytes: number, bodies: BodyBudget): void {
  const bytes = bytesToHold(request, maxBytes)
  if (bytes <= UNCOUNTED_BYTES) return
  const { arrayBuffer } = request
  request.arrayBuffer = () => {
    request.arrayBuffer = arrayBuffer
    return bodies.during(bytes, () => readBytes(request, maxBytes)) as Promise<ArrayBuffer>
  }
}
