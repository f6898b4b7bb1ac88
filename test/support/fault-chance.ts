// Chance that a seed repeats (mulberry32): what a run did can be done again.

/** 0 ≤ n < 1. */
export type Chance = () => number

export function createChance(seed: number): Chance {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A whole number, `from` ≤ n < `to`. */
export const between = (chance: Chance, from: number, to: number): number => from + Math.floor(chance() * (to - from))
