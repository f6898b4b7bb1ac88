// The model of a stack trace, whatever language wrote it.

export interface Frame {
  /** Empty if the trace has none. */
  readonly name: string
  /** The file's own name without its path and line; empty if the trace has none. */
  readonly file: string
  /** The frame belongs to the language's runtime, or a compiler generated it. */
  readonly isInternal: boolean
}

/** One exception of a chain of causes. */
export interface Raised {
  /** Empty if the trace has none. */
  readonly type: string
  readonly message: string
  /** Innermost first. */
  readonly frames: readonly Frame[]
}

/** Files of these names exist in many folders, so the folder is part of the name. */
const COMMON = /^(?:index|route|page|layout|handler|mod|lib|views|models|tasks|__init__)\.[a-z]{1,4}$/
const ROOTS = /^(?:src|lib|dist|build|app|out|home|srv|opt|var|www|code|\W*)$|\d/

/** `at` without line, column and query; directories only where the file's own name says too little. */
export function fileName(at: string): string {
  const path = at
    .slice(0, 500)
    .replace(/[?#].*$/, '')
    .replace(/(?::\d+){1,2}$/, '')
  const [parent = '', name = ''] = `/${path}`.split(/[/\\]/).slice(-2)
  return COMMON.test(name) && !ROOTS.test(parent) ? `${parent}/${name}` : name
}
