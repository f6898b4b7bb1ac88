// Whether a mouse button or finger is down. A click counts only if its element is there from press to release, so pages
// replace nothing in between.
let isPressed = false
let waiting: (() => void)[] = []

/** After the click that the release makes, which comes within its task. */
function release(): void {
  isPressed = false
  const released = waiting
  waiting = []
  setTimeout(() => {
    for (const resolve of released) resolve()
  })
}

addEventListener('pointerdown', () => {
  isPressed = true
})
for (const end of ['pointerup', 'pointercancel', 'blur', 'dragend']) addEventListener(end, release)

/** Resolves at once when nothing is pressed. */
export const untilReleased = (): Promise<void> | undefined =>
  isPressed ? new Promise((resolve) => waiting.push(resolve)) : undefined
