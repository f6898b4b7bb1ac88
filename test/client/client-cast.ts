// Who takes part in the tests of the clients: the packed client in a directory of its own, scripts that run in any
// runtime, and a receiver that answers as a test says, for answers that the real server gives only in trouble.
import { join } from 'node:path'
import { bundleClient } from '../../src/deploy/pack/npm-packages.ts'
import { startReceiver as startServer } from '../support/receiver.ts'

export type Sent = Readonly<Record<string, unknown>> & { readonly kind: string }

export interface Batch {
  readonly bytes: Uint8Array
  readonly headers: Headers
  readonly events: readonly Sent[]
}

export interface Receiver {
  readonly url: string
  readonly batches: Batch[]
  events(): Sent[]
  stop(): Promise<void>
}

export type Reply = Response | Promise<Response>

export const taken = () => Response.json({ accepted: 1, refused: 0, items: [] }, { status: 201 })

/** `answer` gets each batch and its number from 0 on. */
export function startReceiver(answer: (batch: Batch, n: number) => Reply = taken): Receiver {
  const batches: Batch[] = []
  const { url, close } = startServer(({ bytes, headers }) => {
    const events = JSON.parse(Buffer.from(Bun.gunzipSync(new Uint8Array(bytes))).toString())
    batches.push({ bytes, headers, events })
    return answer(batches.at(-1)!, batches.length - 1)
  })
  return {
    url,
    batches,
    events: () => batches.flatMap(({ events }) => events),
    stop: close,
  }
}

/** Writes the client as it is packed; answers its path. */
export async function writeClient(dir: string): Promise<string> {
  const path = join(dir, 'stint.mjs')
  await Bun.write(path, await bundleClient())
  return path
}

export interface Script {
  readonly pid: number
  readonly exited: Promise<number>
  kill(signal: NodeJS.Signals): void
  /** All that it has printed when it is over, standard error after standard output. */
  output(): Promise<string>
  /** Resolves when it has printed this line. */
  prints(line: string): Promise<void>
}

/** Runs a module with `runtime` (`node`, `bun`); `import … from './stint.mjs'` is the client. */
export async function runScript(
  runtime: readonly string[],
  dir: string,
  code: string,
  env: Readonly<Record<string, string>>,
): Promise<Script> {
  const path = join(dir, `script-${crypto.randomUUID()}.mjs`)
  await Bun.write(path, code)
  const { PATH = '' } = process.env
  const child = Bun.spawn([...runtime, path], {
    env: { PATH, HOME: dir, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
  })
  let printed = ''
  let wake = () => {}
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      printed += decoder.decode(chunk, { stream: true })
      wake()
    }
    wake()
  })()
  const errors = new Response(child.stderr).text()
  return {
    pid: child.pid,
    exited: child.exited.then((code) => (child.signalCode === null ? code : 128)),
    kill: (signal) => child.kill(signal),
    async output() {
      await reading
      return printed + (await errors)
    },
    async prints(line) {
      while (!`\n${printed}`.includes(`\n${line}\n`)) {
        const next = new Promise<void>((resolve) => {
          wake = resolve
        })
        if (child.exitCode !== null || child.signalCode !== null) {
          await reading
          if (`\n${printed}`.includes(`\n${line}\n`)) return
          throw new Error(`it ended without printing ${line}: ${printed}${await errors}`)
        }
        await Promise.race([next, child.exited])
      }
    },
  }
}
