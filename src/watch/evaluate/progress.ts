// How far each account was judged, for the next start, and the regular clean-up of the database. Stored now and then:
// judging a little more repeats nothing, because an alert's identity is unique.
import type { WatchStore } from '../storage/create-watch-store.ts'

const EVERY_US = 15e6
const PRUNE_EVERY_US = 3600e6
const RESOLVED_KEPT_US = 90 * 86_400e6

export function createProgress(store: Pick<WatchStore, 'judged' | 'commit' | 'prune'>, nowUs: () => number) {
  const unsaved = new Map<string, number>()
  let judged: Map<string, number> | undefined
  let savedUs = Number.NEGATIVE_INFINITY
  let prunedUs = Number.NEGATIVE_INFINITY

  async function save(): Promise<void> {
    const saved = new Map(unsaved)
    if (saved.size === 0) return
    await store.commit([], saved, nowUs())
    for (const [account, us] of saved) if (unsaved.get(account) === us) unsaved.delete(account)
  }

  return {
    async load(): Promise<void> {
      judged ??= await store.judged()
    },
    isLoaded: () => judged !== undefined,
    /** How far it was judged, by an earlier process or this one. */
    of: (account: string) => judged?.get(account),
    note(account: string, judgedUs: number): void {
      judged?.set(account, judgedUs)
      unsaved.set(account, judgedUs)
    },
    forget(account: string): void {
      for (const known of [unsaved, judged]) known?.delete(account)
    },
    save,
    async step(monotonicUs: number): Promise<void> {
      if (monotonicUs - savedUs >= EVERY_US) {
        await save()
        savedUs = monotonicUs
      }
      if (monotonicUs - prunedUs < PRUNE_EVERY_US) return
      await store.prune(nowUs() - RESOLVED_KEPT_US)
      prunedUs = monotonicUs
    },
  }
}
