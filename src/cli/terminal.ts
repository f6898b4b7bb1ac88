// Standard input as commands see it: as a whole, or as a person who types something that is not shown.
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
  /** Typed already and not asked for yet. */
  let ahead = ''

  /** Until Enter; Ctrl-C and the end of input reject. */
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
      // Raw mode first: who answers the moment the question is there must not be echoed.
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

/** Edits `typed` as a terminal would. Says how the line ended, if it did, and what was typed after that. */
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
