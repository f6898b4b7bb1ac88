// The server's entry: refuses a Bun that is too old before anything else is loaded, then runs the server.
import { readFileSync } from 'node:fs'
import packageJson from '../package.json' with { type: 'json' }

// All file I/O and the embedded engine's statements run on one pool of UV_THREADPOOL_SIZE threads, which is read when
// the process starts; 8 are four connections of the engine, two spools, the compression of answers, and one to spare.
// `bun run start`, the image and stint.service set it.

const LOOK_EVERY_MS = 500

function refuseOldBun(): void {
  const needed = packageJson.engines.bun.replace('>=', '')
  if (Bun.semver.order(Bun.version, needed) >= 0) return
  console.error(
    `Stint needs Bun ${needed} or later; this is Bun ${Bun.version}. With Node: npx --yes bun@${needed} run start`,
  )
  process.exit(2)
}

/** npm and npx pass SIGTERM to a shell that ends without passing it on; this process then sends it to itself. */
function stopWithNpm(): void {
  if (process.env.npm_config_npm_version === undefined) return
  const [above, shell] = lookUp()
  const timer = setInterval(() => {
    const now = lookUp()
    if (now[0] === above && now[1] === shell) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, LOOK_EVERY_MS)
  timer.unref()
}

/** The parent, and its parent: `bun run` may be between npm's shell and this process. */
function lookUp(): [above: number | undefined, shell: number | undefined] {
  const above = parentOf(process.pid)
  return [above, above === undefined ? undefined : parentOf(above)]
}

/** Undefined where there is no /proc, or when the process is gone. */
function parentOf(pid: number): number | undefined {
  try {
    const behindName = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!
    return Number(behindName.split(' ')[1])
  } catch {
    return undefined
  }
}

refuseOldBun()
stopWithNpm()
await import('./run-server.ts')
