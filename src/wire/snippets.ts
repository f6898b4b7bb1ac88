// What to paste to send something, as the console gets it. Free of schemas: it is in the console's bundle.

/** The process of the first snippet. */
export const FIRST_PING = 'first-steps'

export interface Snippet {
  readonly name: string
  readonly hint: string
  /**
   * ADDRESS is that of the reader's Stint. OWN_KEY is the key that the reader sees, KEY one that may write alone, for a
   * host that runs jobs, and TOKEN one that may ping.
   */
  readonly text: string
}

export interface Snippets {
  readonly first: readonly Snippet[]
  /** Those of the page Recipes whose names `first` does not have. */
  readonly schedulers: readonly Snippet[]
}
