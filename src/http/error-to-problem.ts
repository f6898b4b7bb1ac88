// Whatever a route threw becomes a Problem of the closed table. Elysia's own error codes are not believed: any error may carry a `code`.
import { NotFoundError, ParseError, ValidationError } from 'elysia'
import { type Fault, Problem } from '../problem.ts'

const MAX_FAULTS = 100

/** `undefined`: not an error that Stint or Elysia throws on purpose; log it and answer `internal`. */
export function errorToProblem(
  error: unknown,
  problemOf: (error: ValidationError) => Problem | undefined,
): Problem | undefined {
  if (error instanceof Problem) return error
  if (error instanceof ParseError) {
    if (error.cause instanceof Problem) return error.cause
    return new Problem('json_malformed', 'The body could not be read as JSON.', {
      errors: [{ pointer: '', detail: 'is not valid JSON' }],
    })
  }
  if (error instanceof ValidationError) {
    const known = problemOf(error)
    if (known !== undefined) return known
    const errors = schemaFaults(error)
    return new Problem(
      'fields_invalid',
      `The body has ${errors.length === 1 ? 'a fault' : `${errors.length} faults`}.`,
      { errors },
    )
  }
  if (error instanceof NotFoundError) return new Problem('not_found', 'There is no such path.')
  return undefined
}

/** TypeBox names a missing member twice; the first message stands. Its messages hold no values. */
function schemaFaults(error: ValidationError): Fault[] {
  const faults = new Map<string, Fault>()
  for (const { path, message } of error.all as { path?: string; message?: string }[]) {
    const pointer = path === '/' ? '' : (path ?? '')
    if (!faults.has(pointer) && faults.size < MAX_FAULTS)
      faults.set(pointer, { pointer, detail: message ?? 'is not valid' })
  }
  return [...faults.values()]
}
