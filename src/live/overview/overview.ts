// GET /api/overview: what is known of every process of an account, with the alerts as they are.
import { toTime } from '../../clock.ts'
import { Problem } from '../../problem.ts'
import { isFormer } from '../../query/former-decisions.ts'
import type { Known, MetaFigures } from '../../query/prometheus.ts'
import { mapInTurns, rest, spend } from '../../turns.ts'
import type { Overview, OverviewProcess } from '../../wire/overview.ts'
import type { ProcessNote } from '../../wire/process-notes.ts'
import { describeOverall, type Overall, PROCESS_STATES, type ProcessState, wordOf } from '../../wire/process-state.ts'
import { createAccount } from '../account.ts'
import { countedFromUs, HOUR_US } from '../hours.ts'
import type { Live, Look } from '../live.ts'
import { answerMetas, answerRow, whoHears } from './answer-row.ts'
import {
  type Around,
  type Board,
  createAround,
  createBoard,
  type GroupDecision,
  type Judging,
  type Verdict,
  viewSteps,
} from './board.ts'
import { dueBy, type Watched } from './covering.ts'
import { figuresOf } from './figures.ts'
import type { createMedians, Medians } from './medians.ts'
import { encodeCursor, parseOverview, sortVerdicts } from './select-rows.ts'
import { viewProcess } from './view-process.ts'

interface OverviewDeps {
  readonly live: Pick<Live, 'look' | 'freshVersionOf' | 'knownUs'>
  readonly medians: ReturnType<typeof createMedians>
  nowUs(): number
  readonly maxRunUs: number
  /** Current, whatever the stores do. */
  watched(account: string): Promise<Watched>
  /** Decisions about groups of exceptions. Rejects with Problem. */
  decisions(account: string): Promise<readonly GroupDecision[]>
  /** The note of a process. Rejects with Problem. */
  note(account: string, process: string): Promise<ProcessNote>
  /** Until when maintenances hold back what fires at `us` about a process; undefined: none does; infinite: no end. */
  held(account: string): Promise<(process: string, us: number) => number | undefined>
}

/** What is asked of one process alone. */
interface Alone {
  readonly note: ProcessNote
  readonly heldUntilUs: Awaited<ReturnType<OverviewDeps['held']>>
}

/** What a watch covers. */
interface Covered {
  /** Absent for a pattern. */
  readonly process?: string
  covers(process: string): boolean
  /** '' = only without meta; null = any. */
  readonly meta: string | null
}

export interface CoveredState extends Overall {
  /** The word of the only process, such as `silent`; of several the sentence. */
  readonly short: string
}

export type AskOverview = ReturnType<typeof createOverview>

const PAGE = 100
/** The steps of a process's figures. */
const FIGURE_STEPS = 8
const BOARDS_MAX = 200
/** Younger answers are not older than the way to them. */
const STALE_US = 5e6
const NO_MEDIANS: Medians = { of: () => ({ median_24h_ms: null, median_7d_ms: null }) }

interface Loaded {
  readonly look: Look
  readonly verdicts: ReadonlyMap<string, Verdict>
  readonly around: Around
  readonly watched: Watched
  readonly nowUs: number
  /** Why nothing is known but the alerts: the stores do not answer. */
  readonly blind: Problem | undefined
}

/** Throws Problem `question_invalid`; those of a store if nothing at all is known of what is asked for. */
export function createOverview(deps: OverviewDeps) {
  const { live, medians, nowUs, maxRunUs } = deps
  const boards = new Map<string, Board>()

  function boardOf(account: string): Board {
    const board = boards.get(account) ?? createBoard()
    boards.delete(account)
    boards.set(account, board)
    if (boards.size > BOARDS_MAX) boards.delete(boards.keys().next().value!)
    return board
  }

  async function load(account: string): Promise<Loaded> {
    const [watched, decisions] = await Promise.all([
      deps.watched(account),
      deps.decisions(account).catch(() => []), // then every exception counts
    ])
    const found = await live.look(account, decisions.some(isFormer)).catch((error: unknown) => {
      if (!(error instanceof Problem) || watched.alerts.length === 0) throw error
      return error
    })
    const blind = found instanceof Problem ? found : undefined
    const look = found instanceof Problem ? { account: createAccount(account), knownUs: 0 } : found
    const judging: Judging = { watched, decisions, maxRunUs, nowUs: nowUs(), knownUs: look.knownUs }
    const around = createAround(judging)
    const board = blind === undefined ? boardOf(account) : createBoard()
    const verdicts = await board.judge(look.account, around, judging)
    return { look, verdicts, around, watched, nowUs: judging.nowUs, blind }
  }

  function answerProcess(
    { process }: Verdict,
    { around, watched, nowUs }: Loaded,
    known: Medians,
    alone: Alone | undefined,
  ): OverviewProcess {
    const options = around.optionsOf(process.name)
    const view = viewProcess(process, options)
    const { watches } = options
    const each = alone === undefined ? 30 : 60
    const row = answerRow(process, view, {
      watched: { ...watched, alerts: options.alerts },
      watches,
      medians: known,
      each,
    })
    if (alone === undefined) return row
    const lateUs = Math.max(nowUs, row.late_at === null ? 0 : Date.parse(row.late_at) * 1000)
    const untilUs = alone.heldUntilUs(process.name, lateUs)
    const time = (ms: number | undefined) => (ms === undefined ? null : toTime(ms))
    return {
      ...row,
      ...alone.note,
      if_late: {
        channels: whoHears(watches, 'late'),
        held: untilUs !== undefined,
        held_until: untilUs === undefined || !Number.isFinite(untilUs) ? null : toTime(Math.floor(untilUs / 1000)),
      },
      by_meta: answerMetas(process, view, { watches, medians: known, each }),
      watches: watches.map((watch) => {
        const due = dueBy(watch, view.metas)
        return { ...watch.shown, due_at: time(due?.nextMs), late_at: time(due?.lateMs) }
      }),
    }
  }

  async function askAlone(account: string, process: string): Promise<Alone> {
    const [note, heldUntilUs] = await Promise.all([deps.note(account, process), deps.held(account)])
    return { note, heldUntilUs }
  }

  async function ask(account: string, search: URLSearchParams): Promise<Overview> {
    const asked = parseOverview(search)
    const loaded = await load(account)
    const { look, verdicts, watched, blind } = loaded
    const { process } = asked
    const own = process === undefined ? undefined : verdicts.get(process)
    const copyAll = () =>
      mapInTurns(
        verdicts.values(),
        (one) => one,
        () => 1,
      )
    const all = process === undefined ? await copyAll() : own === undefined ? [] : [own]
    if (blind !== undefined && all.length === 0) throw blind
    const known = blind !== undefined ? NO_MEDIANS : await medians.find(account, process, loaded.nowUs)
    const alone = process === undefined ? undefined : await askAlone(account, process)
    const { rows, found, next } = await sortVerdicts(all, asked, PAGE)
    const { counts, day } = await countAll(all)
    const { unjudged, failingChannels } = watched
    const ageUs = loaded.nowUs - look.knownUs
    const since = Math.max(look.account.countsSinceUs ?? 0, countedFromUs(loaded.nowUs))
    return {
      at: toTime(Math.floor(loaded.nowUs / 1000)),
      stale_s: blind !== undefined ? 0 : ageUs < STALE_US ? null : Math.round(ageUs / 1e6),
      ...describeOverall({ counts, unjudged, failingChannels }),
      counts,
      unjudged,
      failing_channels: failingChannels,
      last_24h: day,
      counts_since: toTime(Math.floor(since / 1000)),
      found,
      omitted: look.account.omitted,
      processes: await mapInTurns(
        rows,
        (verdict) => answerProcess(verdict, loaded, known, alone),
        ({ process }) => 2 * viewSteps(process),
      ),
      next: next === undefined ? null : encodeCursor(next),
    }
  }

  /** The state of these processes, without their names; undefined if none is known. */
  async function describe(account: string, { process, covers, meta }: Covered): Promise<CoveredState | undefined> {
    const { verdicts } = await load(account)
    const states: ProcessState[] = []
    for (const { process: known, state, metas } of verdicts.values()) {
      const { name } = known
      if (spend()) await rest()
      if ((process !== undefined && name !== process) || !covers(name)) continue
      if (meta === null) states.push(state)
      else states.push(...metas.filter((one) => (one.meta ?? '') === meta).map((one) => one.state))
    }
    if (states.length === 0) return undefined
    const overall = describeOverall({ counts: countStates(states) })
    return { ...overall, short: states.length === 1 ? wordOf(states[0]!) : overall.sentence.replace(/\.$/, '') }
  }

  return Object.assign(ask, {
    describe,
    /** What is remembered of the account. Rejects with Problem if nothing is, because a store does not answer. */
    look: async (account: string): Promise<Look> => {
      const decisions = await deps.decisions(account).catch(() => [])
      return live.look(account, decisions.some(isFormer))
    },
    /** Differs when an answer to this shows something else; undefined while it has no tag. */
    versionOf(account: string, search: URLSearchParams): string | undefined {
      const process = search.get('process') ?? undefined
      const version = live.freshVersionOf(account, process === undefined ? undefined : [process])
      const board = boards.get(account)
      if (version === undefined || board === undefined) return undefined
      const isDue = board.nextChangeUs(process) < live.knownUs()
      return isDue ? undefined : `${version} ${Math.floor(nowUs() / HOUR_US)}`
    },
    /** The states and figures of all processes, for Prometheus. */
    async known(account: string): Promise<Known> {
      const { verdicts, watched, nowUs: now } = await load(account)
      const [states, figures]: [Known['states'][number][], MetaFigures[]] = [[], []]
      for (const { process, state } of verdicts.values()) {
        states.push({ process: process.name, state })
        figures.push(...figuresOf(process, now))
        if (spend(FIGURE_STEPS)) await rest()
      }
      return { states, figures, alerts: watched.alerts }
    },
    /** Drops the account's states, which refer to what live remembers of it. */
    drop: (account: string): void => void boards.delete(account),
    forget(account: string): void {
      boards.delete(account)
      medians.forget(account)
    },
  })
}

async function countAll(verdicts: readonly Verdict[]) {
  const counts = countStates([])
  const day = { runs: 0, failed: 0, exceptions: 0 }
  for (const verdict of verdicts) {
    counts[verdict.state]++
    for (const name of ['runs', 'failed', 'exceptions'] as const) day[name] += verdict.day[name]
    if (spend(2)) await rest()
  }
  return { counts, day }
}

function countStates(states: readonly ProcessState[]): Record<ProcessState, number> {
  const counts = Object.fromEntries(PROCESS_STATES.map((state) => [state, 0])) as Record<ProcessState, number>
  for (const state of states) counts[state]++
  return counts
}
