// Standard input: read to its end, or typed by a person on a terminal, with or without echo.
import type { ReadStream, WriteStream } from 'node:tty'
import { CliError, type Io } from './io.ts'

const ENTER = 'enter'
const INTERRUPT = 'interrupt'
const KEYS: Readonly<Record<string, string>> = {
  '\r': ENTER,
  '\n': ENTER,
  '\u0004': ENTER, // Ctrl-D
  '\u0003': INTERRUPT, // Ctrl-C
  '\u007f': 'erase',
  '\b': 'erase',
  '\u0015': 'erase line', // Ctrl-U
}

export function createTerminal(
  stdin: ReadStream,
  screen: WriteStream,
): Pick<Io, 'readStdin' | 'readLine' | 'readSecret'> {
  const decoder = new TextDecoder()
  /** Typed before the question was asked. */
  let ahead = ''

  /** Resolves at Enter; Ctrl-C and the end of input reject. */
  function readTyped(): Promise<string> {
    return new Promise((resolve, reject) => {
      const typed: string[] = []
      const end = (settle: () => void) => {
        stdin.off('data', onData).off('end', onEnd)
        settle()
      }
      const onEnd = () => end(() => reject(new CliError('the terminal was closed')))
      const onData = (chunk: Buffer) => take(decoder.decode(chunk, { stream: true }))
      const take = (text: string) => {
        const ended = takeKeys(typed, text)
        if (ended === undefined) return
        ahead = ended.rest
        end(() => (ended.by === ENTER ? resolve(typed.join('')) : reject(new CliError('interrupted'))))
      }
      stdin.on('data', onData).on('end', onEnd).resume()
      const early = ahead
      ahead = ''
      take(early)
    })
  }

  return {
    async readStdin() {
      const chunks: Buffer[] = []
      for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
      return Buffer.concat(chunks).toString('utf8')
    },
    async readLine(question) {
      screen.write(question)
      try {
        return await readTyped()
      } finally {
        stdin.pause()
      }
    },
    async readSecret(question) {
      // Raw mode first: an answer typed the moment the question appears must not be echoed.
      stdin.setRawMode(true)
      try {
        screen.write(question)
        return await readTyped()
      } finally {
        stdin.setRawMode(false)
        stdin.pause()
        screen.write('\n')
      }
    },
  }
}

/**
 * Edits `typed` as a terminal does. Returns how the line ended and what followed it; undefined while it has not ended.
 */
function takeKeys(typed: string[], text: string): { by: string; rest: string } | undefined {
  const characters = [...text]
  for (const [i, character] of characters.entries()) {
    const key = KEYS[character]
    if (key === ENTER || key === INTERRUPT) return { by: key, rest: characters.slice(i + 1).join('') }
    if (key === undefined) typed.push(character)
    else typed.splice(key === 'erase' ? -1 : 0)
  }
  return undefined
}
