// A binary heap of what is due, soonest first; of equals the one that was pushed first.
export function createHeap<T>() {
  const heap: { us: number; n: number; item: T }[] = []
  let count = 0
  const isBefore = (a: number, b: number) =>
    heap[a]!.us < heap[b]!.us || (heap[a]!.us === heap[b]!.us && heap[a]!.n < heap[b]!.n)
  const swap = (a: number, b: number) => {
    const held = heap[a]!
    heap[a] = heap[b]!
    heap[b] = held
  }
  return {
    push(us: number, item: T): void {
      heap.push({ us, n: count++, item })
      for (let at = heap.length - 1; at > 0; ) {
        const up = (at - 1) >> 1
        if (!isBefore(at, up)) return
        swap(at, up)
        at = up
      }
    },
    peekUs: (): number | undefined => heap[0]?.us,
    pop(): T | undefined {
      const top = heap[0]
      const last = heap.pop()
      if (top === undefined || last === undefined || heap.length === 0) return top?.item
      heap[0] = last
      for (let at = 0; ; ) {
        let least = at
        for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && isBefore(child, least)) least = child
        if (least === at) return top.item
        swap(at, least)
        at = least
      }
    },
    size: () => heap.length,
  }
}
