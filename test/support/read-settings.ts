// A Config as it is read, with each secret as the text that it has now.
import { readConfig } from '../../src/config.ts'

export const readSettings = (env: Record<string, string>): object => textsOf(readConfig(env)) as object

function textsOf(value: unknown): unknown {
  if (typeof value === 'function') return value()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, textsOf(member)]))
}
