// argon2id in its own Workers. Bun.password's asynchronous calls share a thread pool with the spool's writes and syncs:
// on 2 cores, four at once raise the mean commit from 0.3 to 400 ms. A hash takes 19 MiB and 30 ms of a core: few run,
// a bounded number waits, the rest is refused. Callers take turns, so a flood from one address delays no other.
import { Problem } from '../problem.ts'
import { normalizePassword } from './credentials.ts'

const QUEUE_EACH = 16
const QUEUE_ALL = 256

/** argon2id's: KiB, and passes over them. */
export interface HashCost {
  readonly memoryCost: number
  readonly timeCost: number
}

const COST: HashCost = { memoryCost: 19_456, timeCost: 2 }
/** No password has this hash. Comparing takes as long as with a real one, so timing reveals no unknown address. */
const NOBODY = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

type Work = readonly [password: string, by: HashCost | string]
type Done = readonly [result: string | boolean | undefined, error?: string]

/** Runs in the Worker, as source text (a compiled binary would lack a file). Has no access to this module. */
function hashInWorker(): void {
  self.onmessage = ({ data: [password, by] }: MessageEvent<Work>) => {
    try {
      const result =
        typeof by === 'string'
          ? Bun.password.verifySync(password, by)
          : Bun.password.hashSync(password, { algorithm: 'argon2id', ...by })
      self.postMessage([result])
    } catch (error) {
      self.postMessage([undefined, String(error)])
    }
  }
}

/** Members of Bun's Worker that the browser's lacks. */
interface QuietWorker extends Worker {
  ref(): void
  unref(): void
}

/** A Worker that keeps the process alive only while it hashes. */
function createHashWorker() {
  const url = URL.createObjectURL(new Blob([`(${hashInWorker})()`], { type: 'application/javascript' }))
  const worker = new Worker(url) as QuietWorker
  let isBroken = false
  worker.unref()
  return {
    run(work: Work): Promise<string | boolean> {
      const { promise, resolve, reject } = Promise.withResolvers<string | boolean>()
      worker.ref()
      worker.onerror = (event) => {
        isBroken = true
        reject(new Error(`the password Worker failed: ${event.message}`))
      }
      worker.onmessage = ({ data: [result, error] }: MessageEvent<Done>) => {
        if (result === undefined) reject(new Error(`the password could not be hashed: ${error}`))
        else resolve(result)
      }
      worker.postMessage(work)
      return promise.finally(() => worker.unref())
    },
    isBroken: () => isBroken,
    close: () => worker.terminate(),
  }
}

type HashWorker = ReturnType<typeof createHashWorker>

export type Passwords = ReturnType<typeof createPasswords>

/** Runs `atOnce` hashes at a time, each in a Worker that starts when first needed. Only tests set another `cost`. */
export function createPasswords(atOnce: number, cost = COST) {
  const workers: HashWorker[] = []
  const idle: HashWorker[] = []
  /** Waiting work by asker; the first asker has the next turn. */
  const queues = new Map<string, ((worker: HashWorker) => void)[]>()
  let waiting = 0

  function takeWorker(): HashWorker | undefined {
    const worker = idle.pop()
    if (worker !== undefined || workers.length >= atOnce) return worker
    workers.push(createHashWorker())
    return workers.at(-1)
  }

  function replace(broken: HashWorker): HashWorker {
    broken.close()
    const worker = createHashWorker()
    workers[workers.indexOf(broken)] = worker
    return worker
  }

  function waitForWorker(asker: string): Promise<HashWorker> {
    const queue = queues.get(asker) ?? []
    if (queue.length >= QUEUE_EACH || waiting >= QUEUE_ALL)
      throw new Problem('rate_limited', 'Too many passwords are being checked at the moment.', { retryAfterS: 2 })
    waiting++
    queues.set(asker, queue)
    return new Promise((resolve) => queue.push(resolve))
  }

  function giveBack(worker: HashWorker): void {
    const [asker, queue] = queues.entries().next().value ?? []
    if (asker === undefined || queue === undefined) return void idle.push(worker)
    waiting--
    const next = queue.shift()!
    queues.delete(asker)
    if (queue.length > 0) queues.set(asker, queue)
    next(worker)
  }

  async function inTurn(asker: string, ...work: Work): Promise<string | boolean> {
    const worker = takeWorker() ?? (await waitForWorker(asker))
    try {
      return await worker.run(work)
    } finally {
      giveBack(worker.isBroken() ? replace(worker) : worker)
    }
  }

  return {
    /** Throws Problem `rate_limited` when too many wait already; `asker` has a turn of its own. */
    hash: async (password: string, asker = ''): Promise<string> =>
      (await inTurn(asker, normalizePassword(password), cost)) as string,
    /** `hash` undefined = there is no such account: false, after the same time. Throws like `hash`. */
    verify: async (password: string, hash: string | undefined, asker = ''): Promise<boolean> =>
      (await inTurn(asker, normalizePassword(password), hash ?? NOBODY)) as boolean,
    /** Ends the Workers; calls in progress never settle. */
    close(): void {
      for (const worker of workers) worker.close()
    },
  }
}
