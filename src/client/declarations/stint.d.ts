// The types that callers of the client see: of stint.ts and its bundle, of stint.mjs and of the package. In one file,
// which is handed out as it is.

/** An event that was given up, with the fields that were to be sent. */
export interface DroppedEvent {
  readonly kind: string
  readonly process?: string
  readonly at?: string
  readonly [field: string]: unknown
}

export interface Unconfirmed {
  readonly reason: 'unconfirmed'
  /** It is in a file, and is sent later. */
  readonly kept: boolean
}

export interface StintOptions {
  /** Address of the server; STINT_URL, else `http://127.0.0.1:7070`. */
  readonly url?: string
  /**
   * API key with the scope `write`; STINT_API_KEY, else the content of STINT_API_KEY_FILE. Without one nothing is sent.
   */
  readonly key?: string
  /** SERVICE_NAME of the server, which names the header of the key; STINT_SERVICE, else `stint`. */
  readonly service?: string
  /**
   * Where events are kept that no answer has confirmed: `true` is the directory that `stint flush` reads. Each call
   * then writes to a file (about 10 µs), so that events survive a crash of this process. STINT_BACKLOG (`1`, a path, or
   * `0` for nowhere); else they are written there at the end of the process and after 60 s without Stint.
   */
  readonly backlog?: boolean | string
  /**
   * Called once for each event that was given up, and for those that are not confirmed at the end of the process: they
   * may be stored, and are sent later if they are kept. Default: at most one line per minute on stderr.
   */
  readonly onDrop?: (event: DroppedEvent, reason: string, unconfirmed?: Unconfirmed) => void
  /** How long an event may wait for others to share its request; 1000 ms. */
  readonly flushMs?: number
  /** Limit of the events in memory, in characters of JSON; 4 Mi. */
  readonly maxBytes?: number
  /**
   * How long the exit of the process may wait for the last events. Else 2 s, and up to 15 s while Stint refuses
   * connections or answers 503, as it does during a restart.
   */
  readonly exitWaitMs?: number
}

/** The subject of an event. Inside a run the fields of that run are the defaults. */
export interface Subject {
  readonly process?: string | undefined
  readonly meta?: string | undefined
  readonly uid?: string | undefined
}

export interface MarkOptions {
  readonly meta?: string | undefined
  /** `a-z`, `0-9`, `-` and `_`, at most 50; tells runs apart that overlap. */
  readonly uid?: string | undefined
}

export interface EndOptions extends MarkOptions {
  readonly failed?: boolean | undefined
  /** What the run has said, of which the last 4 kB are sent. It may hold secrets. */
  readonly output?: string | undefined
}

export type Items = Readonly<Record<string, number>>

/** One run of the caller's code, from its start mark to its end mark. */
export interface Run extends Disposable {
  readonly process: string
  readonly meta: string | undefined
  readonly uid: string
  metrics(items: Items): void
  /** Reports an exception of this run; the run continues. */
  exception(error: unknown): void
  /** What the run has said, added to what it has said before; the last 4 kB go with its end. It may hold secrets. */
  output(text: string): void
  /** Ends the run as failed, with the exception when one is given. */
  fail(error?: unknown): void
  /** Ends the run. Only the first end counts. */
  end(): void
}

export interface Stint {
  /**
   * Runs `work` between a start and an end with a uid of their own. What it throws or rejects with is reported, marks
   * the run as failed, and is passed on, as its result is.
   */
  run<T>(process: string, work: (run: Run) => T): T
  run<T>(process: string, options: MarkOptions, work: (run: Run) => T): T
  /** Starts a run that ends with `end()`, `fail()` or its scope: `using run = begin('import')`. */
  begin(process: string, options?: MarkOptions): Run
  start(process: string, options?: MarkOptions): void
  end(process: string, options?: EndOptions): void
  /** Up to 50 finite numbers by name. Needs a process outside of runs. */
  metrics(items: Items, subject?: Subject): void
  /** An Error with its stack and causes, or any text. Needs a process outside of runs. */
  exception(error: unknown, subject?: Subject): void
  /**
   * Sends at once; resolves within the time (5000 ms) to whether all events since the last flush are stored. False if
   * one of them was dropped. Never rejects.
   */
  flush(withinMs?: number): Promise<boolean>
}

/** Reads the environment now; what is missing or wrong makes a client that only reports it. */
export declare function createStint(options?: StintOptions): Stint
/** As `createStint().run`, with the settings of the environment; so are the others. */
export declare const run: Stint['run']
export declare const begin: Stint['begin']
export declare const start: Stint['start']
export declare const end: Stint['end']
export declare const metrics: Stint['metrics']
export declare const exception: Stint['exception']
export declare const flush: Stint['flush']
