// Ids that are unique on the page. Those of Preact begin again at zero with each render of a page, so that a field that
// comes later would have the id of one that is there.
import { useState } from 'preact/hooks'

let ids = 0

export const useId = (): string => useState(() => `id-${++ids}`)[0]
