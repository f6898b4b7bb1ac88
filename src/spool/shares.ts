// How much of the spool each owner (an account) holds, so that one cannot fill it for all. Kept in memory by runs of records: a run is released
// when all of it has been delivered. What was in the spool at the start has no owner here: it is older than all others and leaves first.

interface Run {
  /** Its records are below this sequence. */
  endSeq: number
  bytes: number
  readonly byOwner: Map<string, number>
}

export class Shares {
  readonly #held = new Map<string, number>()
  readonly #runs: Run[] = []

  constructor(readonly runBytes: number) {}

  held(owner: string): number {
    return this.#held.get(owner) ?? 0
  }

  /** `endSeq`: the sequence after the last of these records. */
  commit(byOwner: ReadonlyMap<string, number>, endSeq: number): void {
    let run = this.#runs.at(-1)
    if (run === undefined || run.bytes >= this.runBytes) {
      run = { endSeq, bytes: 0, byOwner: new Map() }
      this.#runs.push(run)
    }
    run.endSeq = endSeq
    for (const [owner, bytes] of byOwner) {
      run.bytes += bytes
      add(run.byOwner, owner, bytes)
      add(this.#held, owner, bytes)
    }
  }

  /** Everything below `seq` has been delivered. */
  pass(seq: number): void {
    while (this.#runs.length > 0 && this.#runs[0]!.endSeq <= seq) {
      for (const [owner, bytes] of this.#runs.shift()!.byOwner) {
        add(this.#held, owner, -bytes)
        if (this.#held.get(owner) === 0) this.#held.delete(owner)
      }
    }
  }
}

const add = (map: Map<string, number>, owner: string, bytes: number): void => {
  map.set(owner, (map.get(owner) ?? 0) + bytes)
}
