// Whatever was thrown as text: the stack, then those of its causes.

const MAX_CAUSES = 5

export function describeError(error: unknown, depth = 0): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { stack, cause } = error as { stack?: unknown; cause?: unknown }
  const text = typeof stack === 'string' && stack !== '' ? withMessage(stack, error) : describeValue(error)
  return cause === undefined || depth === MAX_CAUSES ? text : `${text}\nCaused by: ${describeError(cause, depth + 1)}`
}

/** A stack is made with the error, so that a message set later is missing in it. */
function withMessage(stack: string, error: object): string {
  const { message } = error as { message?: unknown }
  return typeof message === 'string' && !stack.includes(message) ? `${String(error)}\n${stack}` : stack
}

function describeValue(value: object): string {
  const text = String(value)
  return text === '[object Object]' ? JSON.stringify(value) : text
}
