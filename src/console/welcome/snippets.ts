// Snippets with the reader's address and keys.
import type { Snippet } from '../../wire/snippets.ts'

interface SnippetSettings {
  readonly baseUrl: string
  readonly secret: string
  /** Secret of a key that may write alone, for a host that runs jobs; `secret` unless it is given. */
  readonly hostSecret?: string | undefined
  /** Secret of a key that may ping; without one the reader puts it in. */
  readonly token?: string | undefined
}

export function fillIn(
  snippets: readonly Snippet[],
  { baseUrl, secret, hostSecret = secret, token = 'YOUR_PING_TOKEN' }: SnippetSettings,
): readonly Snippet[] {
  const own: Readonly<Record<string, string>> = { ADDRESS: baseUrl, OWN_KEY: secret, KEY: hostSecret, TOKEN: token }
  return snippets.map((snippet) => ({
    ...snippet,
    text: snippet.text.replaceAll(/\b(?:ADDRESS|OWN_KEY|KEY|TOKEN)\b/g, (name) => own[name]!),
  }))
}
