// One moment that several pictures over the same range show together: the one under the pointer, on whichever of them that is.

export interface Crosshair {
  /** `ms` undefined: the pointer has left. */
  move(ms: number | undefined, from: object): void
  /** `act` is called for moves that come from others than `me`. */
  follow(me: object, act: (ms: number | undefined) => void): void
}

export function createCrosshair(): Crosshair {
  const followers = new Map<object, (ms: number | undefined) => void>()
  return {
    move(ms, from) {
      for (const [follower, act] of followers) if (follower !== from) act(ms)
    },
    follow: (me, act) => void followers.set(me, act),
  }
}
