// The composition root: opens rooms by service/open-rooms.ts, hands them to HTTP by service/create-http.ts, starts and
// stops them. A new room: lines in `openRooms`, and in `start` and `stop` if it works.
//   start: lock of the files → files → stores (one that is away delays the start by at most 1.5 s) → no other DATA_DIR
//          with this NODE_ID → shippers → socket → watches, which count the time without a socket as down
//   stop:  STOP_DELAY, in which balancers find it unready → socket (requests in flight finish) → watches
//          → shippers (the write in hand finishes) → stores → files → lock
import type { Clock } from './clock.ts'
import { type Listener, listen } from './http/listen.ts'
import type { Logger } from './log.ts'
import { createHttp } from './service/create-http.ts'
import { type OpenParts, openRooms, type Rooms } from './service/open-rooms.ts'
import { logHowToBegin, startCounters, warnAboutSettings, watchLead } from './service/report.ts'
import { watchQuotas } from './service/tell-quotas.ts'
import type { Config } from './settings.ts'
import { noteNodeId } from './state/data-dir-lock.ts'

const STORES_READY_WITHIN_MS = 1_500
/** Slow requests must not use up the time that closing the files needs. */
const REQUESTS_END_WITHIN_MS = 4_000

/** Parts that tests substitute. */
interface Substitutes extends OpenParts {
  /** Called with all rooms before any of them starts; returns the rooms to run with. */
  replace?(rooms: Rooms): Rooms
}

export type Service = Awaited<ReturnType<typeof startService>>

/** Throws an Error whose message is for the operator when the service cannot start. */
export async function startService(config: Config, clock: Clock, log: Logger, { replace, ...parts }: Substitutes = {}) {
  const opened = await openRooms(config, clock, log, parts)
  const rooms = replace?.(opened) ?? opened
  startCounters(rooms.metrics)
  let listener: Listener | undefined
  let isStopping = false
  const app = createHttp(rooms, { peerOf: (request) => listener?.peerOf(request), isStopping: () => isStopping })

  await rooms.sharedNodes.start().catch(async (error: unknown) => {
    await stopWork(rooms)
    await closeFiles(rooms)
    throw error
  })
  noteNodeId(config.dataDir, config.nodeId)
  await prepareStores(rooms)
  rooms.shippers.points.start()
  rooms.shippers.exceptions.start()
  rooms.eraseAccounts.start()
  const { host, port, tls } = config
  listener = await listen(app, { host, port, tls, log })
  await rooms.watches.start()
  const leadWatch = watchLead(rooms)
  const quotaWatch = watchQuotas(rooms)
  logReady(rooms, listener.url)

  return {
    /** The address it listens on. */
    url: listener.url,
    rooms,
    routes: app.routes,
    async stop(): Promise<void> {
      isStopping = true
      await Bun.sleep(config.stopDelayUs / 1000)
      leadWatch.stop()
      quotaWatch.stop()
      await Promise.race([listener.stop(), Bun.sleep(REQUESTS_END_WITHIN_MS)])
      await stopWork(rooms)
      await closeFiles(rooms)
    },
  }
}

/** The tables of a first start exist before the first question, unless the store is away or slow. */
async function prepareStores({ stores }: Rooms): Promise<void> {
  const prepared = Promise.allSettled(Object.values(stores.sinks).map((sink) => sink.prepare()))
  await Promise.race([prepared, Bun.sleep(STORES_READY_WITHIN_MS)])
}

/** Runs every step, also after one that failed: a full disk must not keep the rest open. */
async function runAll({ log }: Rooms, steps: readonly (() => unknown)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step()
    } catch (err) {
      log.error({ err }, 'a step of stopping failed')
    }
  }
}

/** Everything that uses the stores ends before they are closed. */
const stopWork = (rooms: Rooms): Promise<void> =>
  runAll(rooms, [
    () => rooms.watches.stop(),
    () => rooms.live.close(),
    () => rooms.eraseAccounts.stop(),
    () => Promise.all([rooms.shippers.points.stop(), rooms.shippers.exceptions.stop()]),
    () => rooms.sharedNodes.stop(),
    () => rooms.stores.close(),
  ])

/** The lock last: the next process must find the files closed. */
const closeFiles = (rooms: Rooms): Promise<void> =>
  runAll(rooms, [
    () => rooms.watches.close(),
    () => rooms.spools.points.close(),
    () => rooms.spools.exceptions.close(),
    () => rooms.movedStamps.close(),
    () => rooms.takenStamps.close(),
    () => rooms.keptFiles.close(),
    () => rooms.deadLetters.close(),
    () => rooms.accounts.close(),
    () => rooms.lock.release(),
  ])

function logReady(rooms: Rooms, url: string): void {
  const { points, exceptions } = rooms.stores.sinks
  rooms.log.info(
    { url, points: points.store, exceptions: exceptions.store, data_dir: rooms.config.dataDir },
    'stint is ready',
  )
  warnAboutSettings(rooms)
  if (rooms.accounts.count() === 0) logHowToBegin(rooms, url)
}
