/** Closed at the end of the block that holds it: `await using spool = disposing(await openSpool(…))`. */
export const disposing = <T extends { close(): unknown }>(it: T): T & AsyncDisposable =>
  Object.assign(it, {
    async [Symbol.asyncDispose]() {
      await it.close()
    },
  })
