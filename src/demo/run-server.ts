// The demo's server: on a free port, with data that is removed at the end, and with none of the caller's settings.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

const SETTINGS = {
  NODE_ENV: 'production',
  HOST: '127.0.0.1',
  PORT: '0',
  LOG_LEVEL: 'info',
  SIGNUP: 'first',
  NOTIFY_PRIVATE: 'true',
  MAX_AGE: '30d',
}
/** The environment variables that a program needs. A caller's INFLUX_URL must not get the demo's events. */
const KEPT = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'LD_LIBRARY_PATH']
/** The largest part of the log in an error, in characters. */
const LOG_MAX = 8000

/**
 * Starts the server, passes its address to `use`, and stops it when that settles or `signal` aborts. Rejects if it does
 * not start.
 */
export async function withServer(env: Env, signal: AbortSignal, use: (url: string) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stint-demo-'))
  try {
    const kept = Object.fromEntries(KEPT.map((name) => [name, env[name]]))
    const server = Bun.spawn([process.execPath, join(import.meta.dir, '../main.ts')], {
      cwd: dataDir, // an .env file of the working directory would add settings
      env: { ...kept, ...SETTINGS, DATA_DIR: dataDir },
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const stop = () => server.kill('SIGTERM')
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    try {
      await use(await readUrl(server.stdout))
    } finally {
      signal.removeEventListener('abort', stop)
      stop()
      await server.exited
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The address that the log names when the server is ready. Rejects with the log if the server ends first. */
async function readUrl(log: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  const reader = log.getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) throw new Error(`the server did not start:\n${text.slice(-LOG_MAX)}`)
    text += decoder.decode(value, { stream: true })
    const url = /"url":"([^"]+)"/.exec(text)?.[1]
    if (url === undefined) continue
    void drain(reader)
    return url
  }
}

/** A full pipe would stop the server. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}
