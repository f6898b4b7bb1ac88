// A failure in words for people.
import { ApiError } from './api.ts'

/** A failure in one text. */
export function explainText(error: unknown): string {
  const { title, detail } = explain(error)
  return `${title}. ${detail}`
}

/** Title and detail of a failure, for people. */
export function explain(error: unknown): { title: string; detail: string } {
  if (error instanceof ApiError) {
    const faults = error.errors.map(({ pointer, detail }) => `${pointer.replace(/^\//, '')} ${detail}`.trim())
    return { title: error.title, detail: faults.length > 0 ? `${faults.join('; ')}.` : error.detail }
  }
  console.error(error)
  return {
    title: 'The page failed',
    detail: 'This is a bug in the console. The browser’s developer tools show the details.',
  }
}
