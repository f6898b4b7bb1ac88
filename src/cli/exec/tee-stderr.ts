// The command's stderr, passed on byte by byte while the end of it is kept.
//   1. the command has a real pipe for its stderr where there is one (open-pipe.ts);
//   2. what it wrote before its exit is passed on before `finish` resolves, in order, however slow our own stderr is;
//   3. whatever it left running keeps a stderr that works: `cat` serves the pipe on after us;
//   4. when our own stderr breaks, so does the command's: it learns what it would have learnt without us.
import { closeSync, write } from 'node:fs'
import { openPipe, type Pipe } from './open-pipe.ts'
import type { TextTail } from './text-tail.ts'

export interface Tee {
  /** For the command. */
  readonly stderr: number | 'pipe'
  /** Once the command is started: `stream` is what Bun made of `'pipe'`. */
  begin(stream: ReadableStream<Uint8Array> | undefined): void
  /** Once the command has ended. */
  finish(): Promise<void>
}

const OUR_STDERR = 2
/** A pipe that is still open and silent for so long after the command's exit is held by something that it left running. */
const SILENCE_MS = 10
const BUSY_RETRY_MS = 5

export function createTee(tail: TextTail): Tee {
  const pipe = openPipe()
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let copying: Promise<void> = Promise.resolve()
  let isOpen = false
  let isWaiting = false
  let chunks = 0

  async function copy(from: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      isWaiting = true
      const { done, value } = await from.read()
      isWaiting = false
      if (done) break
      chunks++
      tail.push(value)
      if (await writeAll(OUR_STDERR, value)) continue
      await from.cancel()
      break
    }
    isOpen = false
    if (pipe === undefined) return
    closeSync(pipe.readFd)
    closeSync(pipe.nonBlockingFd) // the stream leaves that to whoever opened it
  }

  return {
    stderr: pipe ? pipe.writeFd : 'pipe',
    begin(stream) {
      if (pipe) closeSync(pipe.writeFd)
      reader = (pipe === undefined ? stream : Bun.file(pipe.nonBlockingFd).stream())?.getReader()
      if (!reader) return
      isOpen = true
      copying = copy(reader)
    },
    async finish() {
      for (let seen = -1; isOpen && !(isWaiting && seen === chunks); ) {
        seen = chunks
        await Promise.race([copying, Bun.sleep(SILENCE_MS)])
        await new Promise(setImmediate) // a timer may be late: what came meanwhile is seen first
      }
      if (!isOpen) return
      if (pipe) serveOn(pipe)
      await reader?.cancel()
    },
  }
}

/** From now on `cat` copies what comes. */
function serveOn({ readFd }: Pipe): void {
  try {
    Bun.spawn(['cat'], { stdin: readFd, stdout: OUR_STDERR, stderr: 'ignore', detached: true }).unref()
  } catch {
    // Without a `cat` there is nobody to serve it.
  }
}

/** False when nobody reads any more. */
async function writeAll(fd: number, bytes: Uint8Array): Promise<boolean> {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += await writeSome(fd, bytes.subarray(written))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false
      await Bun.sleep(BUSY_RETRY_MS)
    }
  }
  return true
}

const writeSome = (fd: number, bytes: Uint8Array): Promise<number> =>
  new Promise((resolve, reject) => write(fd, bytes, (error, count) => (error ? reject(error) : resolve(count))))
