// Reads TLS_CERT and TLS_KEY and checks that they belong together: at the start with all other settings, and when the socket is opened.
import { createSecureContext } from 'node:tls'
import { readText } from './read-text.ts'

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
