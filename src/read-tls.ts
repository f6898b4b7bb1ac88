// The files of TLS_CERT and TLS_KEY, held against each other: at the start with all other settings, and when the socket is made.
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

/** Or everything that is wrong with them, in words that hold nothing of the files. */
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
        'TLS_CERT and TLS_KEY: cannot be used together; is the key that of the certificate, and not encrypted?',
      ],
    }
  }
}

/** Read by us: what Bun says of a file that is missing or is no PEM names neither the file nor the setting. */
function readPem(name: string, path: string, label: string, problems: string[]): string {
  try {
    const text = readText(path)
    if (new RegExp(`-----BEGIN ([A-Z0-9]+ )*${label}-----`).test(text)) return text
    problems.push(`${name}=${path}: holds no ${label} in PEM`)
  } catch (error) {
    problems.push(`${name}=${path}: ${(error as Error).message}`)
  }
  return ''
}
