// Files that settings name: the text of a secret, and TLS_CERT with TLS_KEY, which are checked with the settings and
// read again for the socket.
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

export interface TlsPaths {
  readonly certPath: string
  readonly keyPath: string
}

export interface TlsPair {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

/** The pair, or every problem with it; messages contain nothing of the files. */
export function readTls({ certPath, keyPath }: TlsPaths): TlsPair | { readonly problems: readonly string[] } {
  const problems: string[] = []
  const pair = {
    cert: readPem('TLS_CERT', certPath, 'CERTIFICATE', problems),
    key: readPem('TLS_KEY', keyPath, 'PRIVATE KEY', problems),
  }
  if (problems.length > 0) return { problems }
  try {
    createSecureContext(pair)
    return pair
  } catch {
    return {
      problems: [
        'TLS_CERT and TLS_KEY: cannot be used together; does the key belong to the certificate, and is it unencrypted?',
      ],
    }
  }
}

/** A pipe can be read only once, so it is left to its user. */
export const isPipe = (path: string): boolean => statOf(path)?.isFIFO() ?? false

export const isFile = (path: string): boolean => statOf(path)?.isFile() ?? false

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** Bun's own error for a missing or non-PEM file names neither the file nor the setting. */
function readPem(name: string, path: string, label: string, problems: string[]): string {
  try {
    const text = readText(path)
    if (new RegExp(`-----BEGIN ([A-Z0-9]+ )*${label}-----`).test(text)) return text
    problems.push(`${name}=${path}: contains no ${label} in PEM`)
  } catch (error) {
    problems.push(`${name}=${path}: ${(error as Error).message}`)
  }
  return ''
}

/** /dev/zero is a file, too. */
const MAX_BYTES = 64 * 2 ** 10

/** A pipe works, but can be read only once. Throws an Error whose message contains neither the path nor the text. */
export function readText(path: string): string {
  const bytes = new Uint8Array(MAX_BYTES + 1)
  let length = 0
  try {
    const file = openSync(path, 'r')
    try {
      for (let read = -1; read !== 0 && length < bytes.length; length += read)
        read = readSync(file, bytes, length, bytes.length - length, null)
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw new Error('the file cannot be read', { cause })
  }
  if (length > MAX_BYTES) throw new Error('the file is larger than 64 KiB')
  return new TextDecoder().decode(bytes.subarray(0, length))
}
