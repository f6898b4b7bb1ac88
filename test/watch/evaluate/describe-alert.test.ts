// Which exception the alert about a failed run names, where several runs share a uid.
import { describe, expect, test } from 'bun:test'
import { toBody } from '../../../src/watch/evaluate/describe-alert.ts'
import { createMemory } from '../../../src/watch/evaluate/memory.ts'
import { alertOf, watchOf } from '../watch-cast.ts'

const S = 1e6
const NOW = 1_000 * S
const at = (mark: 'start' | 'end' | 'failed', agoS: number, uid = 'w') => ({
  ...{ process: 'p', meta: '', mark, uid, atUs: NOW - agoS * S },
})
const raised = (agoS: number, headline: string, uid?: string) => ({
  ...{ process: 'p', meta: '', atUs: NOW - agoS * S, headline },
  ...(uid !== undefined && { uid }),
})

/** The failed run is from 50 to 40 s ago. */
function named(marks: ReturnType<typeof at>[], exceptions: ReturnType<typeof raised>[], uid: string | null = 'w') {
  const memory = createMemory()
  const own = [at('start', 50, uid ?? ''), at('failed', 40, uid ?? '')]
  memory.addMarks([...marks, ...own].toSorted((a, b) => a.atUs - b.atUs))
  memory.addExceptions(exceptions)
  const [series] = memory.seriesOf('p')
  const startedUs = NOW - 50 * S
  const alert = alertOf('ale_1', 'wat_1', {
    ...{ condition: 'failed', process: 'p', uid, startedUs, sinceUs: NOW - 40 * S },
  })
  const body = toBody({
    ...{ type: 'alert.firing', alert, watch: watchOf('wat_1'), summary: '', nowUs: NOW, publicUrl: '' },
    ...(series && { series }),
  })
  return body.data.exception
}

describe('the exception of a failed run', () => {
  const before = [at('start', 70), at('end', 60)]
  const after = [at('start', 35), at('end', 30)]
  test('is its own, also if it arrives just after the end', () => {
    for (const agoS of [50, 45, 40, 36])
      expect(named([...before, ...after], [raised(65, 'earlier', 'w'), raised(agoS, 'own', 'w')])).toBe('own')
  })

  test('is not that of a run before or after it with the same uid', () => {
    expect(named([...before, ...after], [raised(65, 'earlier', 'w'), raised(34, 'later', 'w')])).toBeNull()
    expect(named([...before, ...after], [raised(45, 'of another', 'x')])).toBeNull()
  })

  test('without a uid is one from its start to its end', () => {
    expect(named([at('start', 35, 'x')], [raised(45, 'own')])).toBe('own')
    expect(named([], [raised(40, 'own')])).toBe('own')
    expect(named([], [raised(39, 'after its end')])).toBeNull()
    expect(named([at('start', 70, 'x'), at('end', 60, 'x')], [raised(65, 'earlier')])).toBeNull()
    expect(named([at('start', 35, 'x')], [raised(34, 'later')])).toBeNull()
    const others = [at('start', 70, ''), at('end', 60, ''), at('start', 35, '')]
    expect(named(others, [raised(65, 'earlier'), raised(34, 'later')], null)).toBeNull()
    expect(named(others, [raised(65, 'earlier'), raised(45, 'own')], null)).toBe('own')
  })
})
