#!/usr/bin/env node
// Runs ENTRY with Bun: the one that runs us, that of its npm package for this platform, or that in PATH. Signals and the exit code are passed on.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Packages of platforms hold the binary, and run no script when they are installed. */
function findBun() {
  if (process.versions.bun) return process.execPath
  const name = process.platform === 'win32' ? 'bun.exe' : 'bun'
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const isMusl = platform === 'linux' && !process.report?.getReport().header.glibcVersionRuntime
  const require = createRequire(import.meta.url)
  try {
    const own = dirname(require.resolve(`@oven/bun-${platform}-${arch}${isMusl ? '-musl' : ''}/package.json`))
    if (existsSync(join(own, 'bin', name))) return join(own, 'bin', name)
  } catch {
    // not installed for this platform
  }
  return name
}

const bun = findBun()
const child = spawn(bun, [fileURLToPath(new URL('ENTRY', import.meta.url)), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { NODE_ENV: 'production', UV_THREADPOOL_SIZE: '8', ...process.env },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => {
  console.error(`cannot start Bun (${bun}): ${error.code}; install it with: npm install bun`)
  process.exitCode = 127
})
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + constants.signals[signal]
})
