// Why a copy cannot begin or continue, as text for the operator. Its own file, because every file of this room throws it.

export class CopyError extends Error {
  override readonly name = 'CopyError'
}
