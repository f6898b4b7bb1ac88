// Values by meta. Most processes have one meta, whose value needs no map: an empty one takes some 300 bytes.

export class ByMeta<T> {
  #meta = ''
  #one: T | undefined = undefined
  #all: Map<string, T> | undefined = undefined

  get(meta: string): T | undefined {
    if (this.#all !== undefined) return this.#all.get(meta)
    return meta === this.#meta ? this.#one : undefined
  }

  set(meta: string, value: T): void {
    if (this.#all === undefined && (this.#one === undefined || meta === this.#meta)) {
      this.#meta = meta
      this.#one = value
      return
    }
    this.#all ??= new Map([[this.#meta, this.#one!]])
    this.#all.set(meta, value)
  }

  entries(): readonly (readonly [meta: string, value: T])[] {
    if (this.#all !== undefined) return [...this.#all]
    return this.#one === undefined ? [] : [[this.#meta, this.#one]]
  }

  keys(): string[] {
    return this.entries().map(([meta]) => meta)
  }

  values(): T[] {
    return this.entries().map(([, value]) => value)
  }
}
