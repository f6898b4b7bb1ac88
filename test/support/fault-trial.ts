// What a trial with faults needs: waiting for conditions, faults in the system calls of a process, keys that are replaced, figures.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { keyHeader, signInAt } from './caller.ts'
import { missing, type Need } from './needs.ts'
import type { Caller, StintProcess } from './process.ts'
import { until } from './until.ts'

/** A loaded machine of two cores keeps to it many times over. */
export const WITHIN_MS = 60_000

export const lacks = (...needs: Need[]): boolean => needs.map(missing).some((reason) => reason !== undefined)

export interface Fault {
  /** Takes the fault away; the process goes on. */
  stop(): Promise<void>
}

/**
 * Lets system calls of a running process fail, as `strace -e inject=EXPRESSION` says; with `paths` only those on these files. Resolves when it holds.
 * Only where `missing('ptrace')` is undefined.
 */
export async function injectFault(
  pid: number,
  expressions: readonly string[],
  paths: readonly string[] = [],
): Promise<Fault> {
  const calls = expressions.map((expression) => expression.split(':', 1)[0]!).join(',')
  const injected = expressions.flatMap((expression) => ['-e', `inject=${expression}`])
  const onlyOn = paths.flatMap((path) => ['-P', path])
  return traceCalls(pid, [...onlyOn, '-e', `trace=${calls}`, ...injected, '-o', '/dev/null'])
}

/** The segments of both spools, as they are now. */
export const segmentsOf = ({ dataDir }: Pick<StintProcess, 'dataDir'>): string[] =>
  (readdirSync(join(dataDir, 'spool'), { recursive: true }) as string[])
    .filter((name) => name.endsWith('.segment'))
    .map((name) => join(dataDir, 'spool', name))

const DETACHED_WITHIN_MS = 10_000

/** `strace` on all threads of a running process, until it is stopped. Resolves when it is attached. */
export async function traceCalls(pid: number, options: readonly string[]): Promise<Fault> {
  const strace = Bun.spawn(['strace', '-f', '-p', String(pid), ...options], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let said = ''
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of strace.stderr) said += decoder.decode(chunk, { stream: true })
  })()
  await until(
    `strace attached to ${pid}`,
    () => {
      if (strace.exitCode !== null) throw new Error(`strace ended with ${strace.exitCode}: ${said}`)
      return /attached/.test(said)
    },
    WITHIN_MS,
    5,
  )
  return {
    async stop() {
      strace.kill('SIGINT')
      // It may wait without end for a thread of a process that is being killed; without it the kernel lets the threads go.
      const hung = setTimeout(() => strace.kill('SIGKILL'), DETACHED_WITHIN_MS)
      await strace.exited
      clearTimeout(hung)
      await reading
    },
  }
}

/** Signs in as the owner of `email` and replaces the named key without an overlap. Undefined when the connection broke. */
export async function rotateKey({ url }: StintProcess, email: string, keyId: string): Promise<string | undefined> {
  try {
    const session = await signInAt(url, email)
    return (await session.post(`/api/keys/${keyId}/rotate`, {})).json.key?.secret
  } catch {
    return undefined
  }
}

export const isKnown = async (stint: StintProcess, secret: string): Promise<boolean> =>
  (await fetch(`${stint.url}/api/processes`, { headers: keyHeader(secret) })).status === 200

/** One figure of /metrics, summed over its labels; undefined while it cannot be asked. */
export async function figure(stint: StintProcess, name: string, labels = ''): Promise<number | undefined> {
  const text = await fetch(`${stint.url}/metrics`).then(
    (response) => response.text(),
    () => undefined,
  )
  if (text === undefined) return undefined
  let sum = 0
  for (const line of text.split('\n')) {
    if (line.startsWith(`${name}{`) && line.includes(labels)) sum += Number(line.slice(line.lastIndexOf(' ')))
    else if (line.startsWith(`${name} `) && labels === '') sum += Number(line.slice(name.length))
  }
  return sum
}

/** Clients that load until `stop`, which resolves when the last request has its answer or none. */
export function startLoad(
  oracle: { load(caller: Caller, isOver: () => boolean): Promise<void> },
  callers: readonly Caller[],
): { stop(): Promise<void> } {
  let isOver = false
  const clients = callers.map((caller) => oracle.load(caller, () => isOver))
  return {
    async stop() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

/** The same caller many times: so many clients. */
export const manyOf = (caller: Caller, count: number): Caller[] => Array.from({ length: count }, () => caller)
