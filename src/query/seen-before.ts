// When a group of exceptions was first raised and when the last time before a moment: the one place that says whether
// it is new or came back. What 2.0 stored of the same exceptions counts, too.
import { formerFingerprint, rememberFingerprints } from '../event/fingerprint.ts'
import { compare, FIRST_NS, groupTie } from '../store/order.ts'
import type { Asker, ExceptionSource, GroupKey, GroupSpan } from '../store/source.ts'
import { mapInTurns, stepsOfReading } from '../turns.ts'
import { NEW_AFTER_DAYS } from '../wire/words.ts'
import { isFormer } from './former-decisions.ts'

const DAY_NS = 86_400_000_000_000n
/** A group is called new for so long. */
const NEW_FOR_NS = 7n * DAY_NS

/** A group with one of its texts. */
type NamedGroup = GroupKey & { readonly example: string }
export const stepsOfExample = ({ example }: Pick<NamedGroup, 'example'>): number => stepsOfReading(example)
export type Span = Pick<GroupSpan, 'firstNs' | 'lastNs'>

export function createSeenBefore(exceptions: Pick<ExceptionSource, 'findGroupSpans'>) {
  const formerOf = rememberFingerprints(undefined, formerFingerprint)

  /** Per group, in their order, its first and last exception in the range. Throws StoreError. */
  async function spansOf(
    { account, signal, isShort = false }: Asker,
    groups: readonly NamedGroup[],
    range: { readonly fromNs: bigint; readonly toNs: bigint },
  ): Promise<(Span | undefined)[]> {
    if (groups.length === 0) return []
    const before = await mapInTurns(
      groups,
      (it) => ({ ...it, fingerprint: isFormer(it) ? '' : formerOf(it.example) }),
      stepsOfExample,
    )
    const only = [...groups, ...before.filter((it) => it.fingerprint !== '')]
    const found = await exceptions.findGroupSpans({ account, signal, isShort, ...range, only })
    const spanOf = new Map(found.map((span) => [groupTie(span), span]))
    return mapInTurns(groups, (group, i) => {
      const both = [group, before[i]].flatMap((key) => (key && spanOf.get(groupTie(key))) ?? [])
      const [first] = both.toSorted((x, y) => compare(x.firstNs, y.firstNs))
      const [last] = both.toSorted((x, y) => compare(y.lastNs, x.lastNs))
      return first && last && { firstNs: first.firstNs, lastNs: last.lastNs }
    })
  }

  return {
    spansOf,
    /** Before `beforeNs`: the first of all, and the last within 90 days; absent without one. Throws StoreError. */
    async before(asker: Asker, groups: readonly NamedGroup[], beforeNs: bigint) {
      const spans = await spansOf(asker, groups, { fromNs: FIRST_NS, toNs: beforeNs })
      const oldestNs = beforeNs - BigInt(NEW_AFTER_DAYS) * DAY_NS
      return spans.map((span) => ({
        firstNs: span?.firstNs,
        previousNs: span !== undefined && span.lastNs >= oldestNs ? span.lastNs : undefined,
      }))
    },
    /** Are groups with these spans new? Only those stored for longer are asked for. Throws StoreError. */
    async areNew(asker: Asker, groups: readonly (NamedGroup & Span)[], nowNs: bigint): Promise<boolean[]> {
      const sinceNs = nowNs - NEW_FOR_NS
      const fromNs = sinceNs - BigInt(NEW_AFTER_DAYS) * DAY_NS
      const isOpen = ({ firstNs, lastNs }: Span) => firstNs < fromNs && lastNs >= sinceNs
      const old = groups.filter(isOpen)
      const spans = await spansOf(asker, old, { fromNs, toNs: sinceNs })
      const wasSeen = new Map(old.map((it, i) => [it, spans[i] !== undefined]))
      return mapInTurns(groups, (it) => (isOpen(it) ? wasSeen.get(it) === false : it.firstNs >= sinceNs))
    },
  }
}
