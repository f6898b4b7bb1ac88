// The faults of one request. Only the first ones are kept and the rest is counted, so that no body makes an answer
// larger than itself.
import type { Fault } from '../problem.ts'

/** A member name as one step of a JSON pointer (RFC 6901). */
export const escapePointer = (member: string) => member.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1')

export const MAX_FAULTS = 100

const NONE: readonly Fault[] = []

export class Faults {
  /** The faults that are kept, at most `max`. */
  list: readonly Fault[] = NONE
  /** All of them. */
  count = 0
  readonly #max: number
  readonly #prefix: string

  /** Every pointer begins with `prefix`, a JSON pointer itself. */
  constructor(max = MAX_FAULTS, prefix = '') {
    this.#max = max
    this.#prefix = prefix
  }

  /** Further faults are only counted. */
  get isFull(): boolean {
    return this.count >= this.#max
  }

  add(pointer: string, detail: string): void {
    if (this.count++ >= this.#max) return
    const fault = { pointer: this.#prefix + pointer, detail }
    if (this.list === NONE) this.list = [fault]
    else (this.list as Fault[]).push(fault)
  }

  /** The fault of a member below `pointer`. */
  addMember(pointer: string, member: string, detail: string): void {
    if (this.count < this.#max) this.add(`${pointer}/${escapePointer(member)}`, detail)
    else this.count++
  }
}
