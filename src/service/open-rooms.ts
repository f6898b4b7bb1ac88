// Opens every room, in order: lock → files → stores → what moves events between them. Nothing here starts work.
import { join } from 'node:path'
import { openAccounts } from '../account/open-accounts.ts'
import type { HashCost } from '../account/passwords.ts'
import { createQuota } from '../account/quota.ts'
import { openSharedAccounts } from '../account/shared/open-shared-accounts.ts'
import { type Clock, refuseWrongClock } from '../clock.ts'
import { createArrivals } from '../event/arrivals.ts'
import type { Both, Destination } from '../event/event.ts'
import { createOwnStamps } from '../event/own-stamps.ts'
import { MAX_AHEAD_US } from '../event/own-time.ts'
import { accountOfRecord } from '../event/record.ts'
import { createStampClock } from '../event/stamp-clock.ts'
import { createTakenStamps } from '../event/taken-stamps.ts'
import { NO_OTHERS } from '../live/other-nodes.ts'
import type { Logger } from '../log.ts'
import { createMetrics, type Metrics } from '../metrics.ts'
import { isLoopback } from '../parse-settings.ts'
import { createClosedDays } from '../query/closed-days.ts'
import { createDesk, DESK_LIMITS } from '../query/desk.ts'
import { createChangeGroup } from '../query/exception-groups.ts'
import { keepDays } from '../query/keep-days.ts'
import { createKeptAnswers } from '../query/kept-answers.ts'
import { createQuestions } from '../query/questions.ts'
import { textOf } from '../secret.ts'
import type { Config } from '../settings.ts'
import { createEraseAccounts } from '../ship/erase-accounts.ts'
import type { Disk } from '../spool/disk.ts'
import { openSpool } from '../spool/open-spool.ts'
import type { Spool } from '../spool/spool.ts'
import { checkNodeId, lockDataDir, makeDataDir } from '../state/data-dir-lock.ts'
import { openDeadLetters } from '../state/dead-letters.ts'
import { openKeptFiles, refuseLostAccounts } from '../state/kept-files.ts'
import { openMovedStamps } from '../state/moved-stamps.ts'
import { openTakenStampsFile } from '../state/taken-stamps-file.ts'
import { openStores, pointStoreFacts } from '../store/open-stores.ts'
import { createRefusedTimes } from '../watch/feed/refused-times.ts'
import { createShipperTo } from './create-shipper-to.ts'
import { noteStores } from './note-stores.ts'
import { openLive } from './open-live.ts'
import { mayLink, openWatchRoom } from './open-watch-room.ts'
import { openSharedNodes, refuseSecondNodeZero } from './shared-nodes.ts'
import { createShowAlert } from './show-alert.ts'

const MIN_FREE_BYTES = 64 * 2 ** 20

/** The real ones when absent. */
export interface OpenParts {
  readonly disks?: Partial<Both<Disk>>
  readonly openStores?: typeof openStores
  /** What hashing a new password costs. */
  readonly hashCost?: HashCost
}

export type Rooms = Awaited<ReturnType<typeof openRooms>>

/** Throws an Error whose message is for the operator. */
export async function openRooms(config: Config, clock: Clock, log: Logger, parts: OpenParts) {
  refuseWrongClock(clock)
  makeDataDir(config.dataDir)
  const lock = lockDataDir(config.dataDir)
  const isNewNode = checkNodeId(config.dataDir, config.nodeId)
  if (config.databaseUrl === undefined) refuseLostAccounts(config.dataDir)
  const metrics = createMetrics()
  const base: Base = { config, clock, log, metrics }
  const refusedTimes = createRefusedTimes({
    isRefused: (account) => files.quota.isSpent(account, true) || files.spools.points.refusal(account) !== undefined,
    nowUs: () => stampClock.nowUs(),
  })
  const files = await openFiles(base, parts, refusedTimes.note)
  noteStores(config, log)
  const floorUs = await findFloor(files.spools, isNewNode, clock)
  if (isNewNode && files.accounts.count() > 0) refuseSecondNodeZero(config)
  const stampClock = createStampClock(clock, config.nodeId, floorUs)
  const arrivals = createArrivals(stampClock)
  const embeddedPath = join(config.dataDir, 'clickhouse')
  const stores = await (parts.openStores ?? openStores)({ ...config, embeddedPath, log })
  const taken = createTakenStamps()
  const takenStamps = openTakenStampsFile(join(config.dataDir, 'taken-stamps'), taken, log)
  const ownStamps = createOwnStamps(files.movedStamps, taken)
  const sharedNodes = openSharedNodes(config, isNewNode, log)
  const opened = { ...base, ...files, refusedTimes, lock, stampClock, arrivals, takenStamps, ownStamps, stores }
  const desk = createDesk(DESK_LIMITS, config.influx === undefined)
  const kept = createKeptAnswers(() => clock.monotonicUs() / 1000)
  const watches = openWatchRoom({ ...opened, desk })
  const keptFiles = openKeptFiles(keptPaths(config))
  const nowUs = () => Math.max(stampClock.nowUs(), clock.wallUs())
  const nowNs = () => BigInt(nowUs()) * 1000n
  const others = watches.others ?? NO_OTHERS
  const closedDays = createClosedDays({ ...config, others, nowUs, monotonicUs: clock.monotonicUs })
  const shipping = { ...opened, keptFiles, closedDays }
  const { groupStates, notes, removals, removed } = files.accounts
  const { points, exceptions } = stores
  const maxRunNs = BigInt(config.maxRunUs) * 1000n
  const questions = createQuestions({
    desk,
    kept,
    groupStates,
    nowNs,
    ...keepDays(stores, closedDays, nowNs),
    maxRunNs,
    maxMarks: config.queryMaxMarks ?? pointStoreFacts(config.influx).maxMarks,
    series: files.accounts.series.use,
    known: (account) => overview.known(account),
  })
  const { live, overview } = openLive({ ...opened, watches, desk, nowUs })
  const rooms = { ...shipping, sharedNodes, watches, questions, kept, live, overview }
  return {
    ...rooms,
    shippers: { points: createShipperTo('points', shipping), exceptions: createShipperTo('exceptions', shipping) },
    eraseAccounts: createEraseAccounts({
      removals,
      removed,
      forget(account) {
        live.forget(account)
        closedDays.forget(account)
        overview.forget(account)
      },
      spools: Object.values(files.spools),
      sinks: Object.values(stores.sinks),
      deadLetters: files.deadLetters,
      nowUs: stampClock.nowUs,
      log,
    }),
    changeGroup: createChangeGroup({ exceptions, states: groupStates, nowUs, changed: live.touch }),
    showAlert: createShowAlert({
      points,
      exceptions,
      maxRunNs,
      desk,
      watches,
      overview,
      groupStates,
      notes,
      nowUs,
      storedUs: live.storedUs,
    }),
  }
}

interface Base {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

async function openFiles(
  { config, clock, log, metrics }: Base,
  parts: OpenParts,
  noteRefused: (account: string) => void,
) {
  const inDataDir = (...names: string[]) => join(config.dataDir, ...names)
  const accountsOptions = {
    clock,
    log,
    signup: config.signup,
    setupCodeRequired: !isLoopback(config.host) || config.trustProxy > 0 || config.setupCode !== undefined,
    ...(config.setupCode !== undefined && { setupCode: textOf(config.setupCode) }),
    seriesMax: pointStoreFacts(config.influx).seriesCost ? config.seriesMax : 0,
    isMailed: config.smtp !== undefined && mayLink(config),
    ...(parts.hashCost && { hashCost: parts.hashCost }),
  }
  const accounts =
    config.databaseUrl === undefined
      ? openAccounts({ ...accountsOptions, path: inDataDir('accounts.sqlite') })
      : await openSharedAccounts({
          ...accountsOptions,
          url: config.databaseUrl,
          replicaPath: inDataDir('known-keys.sqlite'),
        })
  const deadLetters = openDeadLetters({
    path: inDataDir('dead.sqlite'),
    maxBytes: config.deadMaxBytes,
    node: config.nodeId,
    clock,
    log,
  })
  const openSpoolOf = (destination: Destination) => {
    const commitSeconds = metrics.commitSeconds.labels(destination)
    const disk = parts.disks?.[destination]
    return openSpool({
      dir: inDataDir('spool', destination),
      maxBytes: Math.floor(config.spoolMaxBytes / 2),
      minFreeBytes: MIN_FREE_BYTES,
      isShared: () => accounts.count() > 1,
      isOver: (account) => deadLetters.isOver(destination, account),
      // watches miss starts and ends
      ...(destination === 'points' && { onRefused: noteRefused }),
      judgeOwners: accounts.senders.judge,
      isFollowed: true,
      ownerOf: accountOfRecord,
      log: log.child({ destination }),
      onCommit(_, ms, byOwner) {
        commitSeconds.observe(ms / 1000)
        accounts.use.add(byOwner, destination)
      },
      ...(disk && { disk }),
    })
  }
  const spools = { points: await openSpoolOf('points'), exceptions: await openSpoolOf('exceptions') }
  const movedStamps = openMovedStamps({
    path: inDataDir('moved-stamps'),
    keepUs: config.maxAgeUs + MAX_AHEAD_US,
    clock,
    log,
  })
  const quota = createQuota({
    limitBytes: config.quotaBytes,
    use: accounts.use,
    waitingBytesOf: (account) => spools.points.waitingBytesOf(account) + spools.exceptions.waitingBytesOf(account),
    onRefused: noteRefused,
    nowUs: clock.wallUs,
  })
  return { accounts, quota, deadLetters, spools, movedStamps }
}

/** The parts of DATA_DIR whose loss would go unnoticed until the next start. */
function keptPaths({ dataDir, clickhouse, databaseUrl }: Config): string[] {
  const names = [
    ...(clickhouse === undefined ? ['clickhouse'] : []),
    ...(databaseUrl === undefined ? ['accounts.sqlite', 'watches.sqlite'] : []),
  ]
  return names.map((name) => join(dataDir, name))
}

/** A floor that leads the wall clock by more stays behind with its NODE_ID. */
const MAX_LEAD_US = 60_000_000

/** Below it this NODE_ID may have given stamps. What a new one finds are those of another, which it cannot repeat. */
async function findFloor(spools: Both<Spool>, isNewNode: boolean, clock: Clock): Promise<number> {
  const all = Object.values(spools)
  const floorUs = Math.max(...all.map((spool) => spool.floorUs))
  if (!isNewNode || floorUs - clock.wallUs() <= MAX_LEAD_US) return floorUs
  for (const spool of all) await spool.forgetFloor()
  return 0
}
