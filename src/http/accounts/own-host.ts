// DNS rebinding: a page of another site lets its own name point to 127.0.0.1, and then the browser takes Stint for a part of that site. All that
// still tells is the Host header. Where Stint only listens on a loopback address and no proxy stands before it, that has to be a loopback name.

const LOOPBACK_NAME = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/** Did the request ask for this machine by a name that nobody else can own? Without a Host header no browser sent it. */
export function hasLoopbackHost(request: Request): boolean {
  const host = request.headers.get('host')
  return host === null || LOOPBACK_NAME.test(host)
}
