// Which accounts' watches could not be judged at present, and what channels were notified of it. One row per account
// until its watches are judged again, so neither a restart nor another node notifies a second time.
import { run, type SqlDatabase } from '../../state/database.ts'
import { dropUnknown, enqueue } from './outbox-statements.ts'
import { list, one, toNotice } from './rows.ts'
import type { NewNotification, UnjudgedNotice } from './watch-store.ts'

const ALL = 'SELECT * FROM unjudged'
const select = (account: string) => one(toNotice, `${ALL} WHERE account = $1`, account)

export const createUnjudgedStatements = ({ read, write }: SqlDatabase) => ({
  /** Accounts with watches that are not judged. */
  unjudged: () => read(() => list(toNotice, ALL)),
  /** Begins a notice unless the account has one, and notifies those channels that do not know of it yet. */
  noteUnjudged: (
    { id, account, sinceUs }: Omit<UnjudgedNotice, 'channels'>,
    notifications: readonly NewNotification[],
    nowUs: number,
  ) =>
    write(function* () {
      const insert = "INSERT INTO unjudged VALUES ($1, $2, $3, '{}') ON CONFLICT DO NOTHING"
      yield* run(insert, account, id, sinceUs)
      const notice = (yield* select(account))!
      const channels = { ...notice.channels }
      for (const one of notifications) {
        const { since, watches = [] } = one.body.data
        const announced = { sinceUs: Date.parse(since) * 1000, watches: watches.map((watch) => watch.id) }
        if (channels[one.channel] === undefined && (yield* enqueue(notice.id, account, one, nowUs)))
          channels[one.channel] = announced
      }
      yield* run('UPDATE unjudged SET channels = $1 WHERE account = $2', JSON.stringify(channels), account)
      return { ...notice, channels }
    }),
  /** Ends the account's notice; only channels that know of it are notified. */
  noteJudged: (account: string, notifications: readonly NewNotification[], nowUs: number) =>
    write(function* () {
      const notice = yield* select(account)
      if (notice === undefined) return
      for (const one of notifications.filter(({ channel }) => notice.channels[channel] !== undefined))
        if (!(yield* dropUnknown(notice.id, one.channel, nowUs))) yield* enqueue(notice.id, account, one, nowUs)
      yield* run('DELETE FROM unjudged WHERE account = $1', account)
    }),
})
