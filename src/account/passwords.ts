// argon2id in a Worker of its own. Bun.password's asynchronous calls share a thread pool with the spool's writes and
// syncs: on 2 cores, four at once raise the mean commit from 0.3 to 400 ms. A hash takes 19 MiB and 30 ms of a core, so
// one runs at a time, and the others wait as password-line.ts says.
import { normalizePassword } from './credentials.ts'
import { type Asker, createPasswordLine } from './password-line.ts'

/** argon2id's: KiB, and passes over them. */
export interface HashCost {
  readonly memoryCost: number
  readonly timeCost: number
}

const COST: HashCost = { memoryCost: 19_456, timeCost: 2 }
/** No password has this hash. Comparing takes as long as with a real one, so timing reveals no unknown address. */
const hashOfNobody = ({ memoryCost, timeCost }: HashCost): string =>
  `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=1$${'A'.repeat(43)}$${'A'.repeat(43)}`

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
  worker.unref()
  return {
    run(work: Work): Promise<string | boolean> {
      const { promise, resolve, reject } = Promise.withResolvers<string | boolean>()
      worker.ref()
      worker.onerror = ({ message }) => reject(new Error(`the password Worker failed: ${message}`))
      worker.onmessage = ({ data: [result, error] }: MessageEvent<Done>) => {
        if (result === undefined) reject(new Error(`the password could not be hashed: ${error}`))
        else resolve(result)
      }
      worker.postMessage(work)
      return promise.finally(() => worker.unref())
    },
    close: () => worker.terminate(),
  }
}

export type Passwords = ReturnType<typeof createPasswords>

/** The Worker starts when first needed. Only tests set another `cost`. */
export function createPasswords(cost = COST) {
  let worker: ReturnType<typeof createHashWorker> | undefined
  const inTurn = createPasswordLine(async (work: Work) => {
    worker ??= createHashWorker()
    try {
      return await worker.run(work)
    } catch (error) {
      worker?.close() // it may be broken
      worker = undefined
      throw error
    }
  })

  return {
    /** Throws Problem `rate_limited` when too many wait already, of all or of this `asker`. */
    hash: async (password: string, asker?: Asker): Promise<string> =>
      (await inTurn([normalizePassword(password), cost], asker)) as string,
    /** `hash` undefined = there is no such account: false, after the same time. Throws like `hash`. */
    verify: async (password: string, hash: string | undefined, asker?: Asker): Promise<boolean> =>
      (await inTurn([normalizePassword(password), hash ?? hashOfNobody(cost)], asker)) as boolean,
    /** Ends the Worker; calls in progress never settle. */
    close: () => worker?.close(),
  }
}
