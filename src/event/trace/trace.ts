// What a stack trace says, whatever language wrote it.

export interface Frame {
  /** '' where the trace has none. */
  readonly name: string
  /** The file's own name, without its path and line; '' where the trace has none. */
  readonly file: string
}

/** One exception of a chain of causes. */
export interface Raised {
  /** '' where the trace has none. */
  readonly type: string
  readonly message: string
  /** Innermost first. */
  readonly frames: readonly Frame[]
}

/** `at` without directories, query, line and column. */
export function fileName(at: string): string {
  const path = at.replace(/[?#].*$/, '').replace(/(?::\d+){1,2}$/, '')
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}
