// A sink that takes nothing while a part of DATA_DIR is lost: the events stay in the spool, which survives.
import type { KeptFiles } from '../state/kept-files.ts'
import type { Sink, WriteResult } from '../store/sink.ts'

/** Looks before each request, and after it: what the store took in between may be gone as well. */
export function whileKept(sink: Sink, kept: Pick<KeptFiles, 'lost'>): Sink {
  const guarded = async (work: () => Promise<WriteResult>): Promise<WriteResult> => {
    const before = lostNow()
    if (before !== undefined) return before
    const result = await work()
    return lostNow() ?? result
  }
  const lostNow = (): WriteResult | undefined => {
    const reason = kept.lost()
    return reason === undefined ? undefined : { kind: 'wait', reason }
  }
  return {
    ...sink,
    prepare: () => guarded(() => sink.prepare()),
    write: (events) => guarded(() => sink.write(events)),
    check: (like) => guarded(() => sink.check(like)),
  }
}
