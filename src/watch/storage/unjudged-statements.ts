// Which accounts' watches could not be judged at present, and what channels were notified of it. One row per account
// until its watches are judged again, so neither a restart nor another node notifies a second time.
import { all, get, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { dropUnknown, enqueue } from './outbox-statements.ts'
import type { UnjudgedNotice, WatchStore } from './watch-store.ts'

interface UnjudgedRow {
  readonly id: string
  readonly account: string
  readonly since_us: number
  readonly channels: string
}

type OfUnjudged = 'unjudged' | 'noteUnjudged' | 'noteJudged'

const OF_ACCOUNT = 'SELECT * FROM unjudged WHERE account = $1'
const select = (account: string): Script<UnjudgedRow | undefined> => get<UnjudgedRow>(OF_ACCOUNT, account)

const toNotice = ({ since_us, channels, ...row }: UnjudgedRow): UnjudgedNotice => ({
  ...row,
  sinceUs: since_us,
  channels: JSON.parse(channels),
})

export function createUnjudgedStatements({ read, write }: SqlDatabase): Pick<WatchStore, OfUnjudged> {
  return {
    async unjudged(account) {
      const every = () => all<UnjudgedRow>('SELECT * FROM unjudged')
      const rows = await read(account === undefined ? every : () => all<UnjudgedRow>(OF_ACCOUNT, account))
      return rows.map(toNotice)
    },
    noteUnjudged: ({ id, account, sinceUs }, notifications, nowUs) =>
      write(function* () {
        const insert = "INSERT INTO unjudged VALUES ($1, $2, $3, '{}') ON CONFLICT DO NOTHING"
        yield* run(insert, account, id, sinceUs)
        const row = (yield* select(account))!
        const known: Record<string, UnjudgedNotice['channels'][string]> = JSON.parse(row.channels)
        for (const one of notifications) {
          const { since, watches = [] } = one.body.data
          const announced = { sinceUs: Date.parse(since) * 1000, watches: watches.map((watch) => watch.id) }
          if (known[one.channel] === undefined && (yield* enqueue(row.id, account, one, nowUs)))
            known[one.channel] = announced
        }
        yield* run('UPDATE unjudged SET channels = $1 WHERE account = $2', JSON.stringify(known), account)
        return { ...toNotice(row), channels: known }
      }),
    noteJudged: (account, notifications, nowUs) =>
      write(function* () {
        const row = yield* select(account)
        if (row === undefined) return
        const { channels: known } = toNotice(row)
        for (const one of notifications.filter(({ channel }) => known[channel] !== undefined))
          if (!(yield* dropUnknown(row.id, one.channel, nowUs))) yield* enqueue(row.id, account, one, nowUs)
        yield* run('DELETE FROM unjudged WHERE account = $1', account)
      }),
  }
}
