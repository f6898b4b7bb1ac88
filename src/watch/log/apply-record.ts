// A record of the spool → the judge.
import type { EndText, Event, Exception, Text } from '../../event/event.ts'
import { fromRecord } from '../../event/record.ts'
import { timeUs } from '../../event/stamp.ts'
import { longHeadline } from '../../wire/headline.ts'
import type { WatchJudge } from './judge-interface.ts'
import { identityOf } from './seen.ts'

/** Of the stamp and what else identifies the event in its series. */
const hashOf = ({ stamp: { us, sub } }: Event, content: string): number => identityOf(us, `${sub} ${content}`)

/** Is its group ignored, or was it resolved after it? Then it is no failure. */
export type IsIgnored = (exception: Exception, atUs: number) => Promise<boolean>

/** The caller has advanced the judge to `arrivedUs`. Only an exception that would fire an alert is waited for. */
export function applyRecord(
  judge: WatchJudge,
  record: string,
  arrivedUs: number,
  isIgnored: IsIgnored,
): Promise<void> | undefined {
  const event = fromRecord(record)
  const { account, process, meta } = event
  if (!judge.isWatched(account)) return undefined
  const common = { process, meta, atUs: Math.min(timeUs(event.stamp), arrivedUs), arrivedUs }
  switch (event.kind) {
    case 'start':
    case 'end': {
      const kind = event.kind === 'start' ? 'start' : event.failed ? 'failed' : 'end'
      judge.applyMark(account, { ...common, kind, uid: event.uid })
      return undefined
    }
    case 'metrics':
      judge.applyPoint(account, { ...common, items: event.items, id: hashOf(event, `${meta} ${event.uid}`) })
      return undefined
    case 'exception': {
      const headline = longHeadline(event.exception)
      const id = hashOf(event, `${event.exception} ${event.uid}`)
      const raised = { ...common, headline, id, ...(event.uid !== undefined && { uid: event.uid }) }
      if (!judge.asksGroup(account, process, meta)) {
        judge.applyException(account, raised)
        return undefined
      }
      return isIgnored(event, common.atUs).then((isOut) =>
        judge.applyException(account, isOut ? { ...raised, isIgnored: true } : raised),
      )
    }
    default:
      event satisfies Text<EndText>
      return undefined
  }
}
