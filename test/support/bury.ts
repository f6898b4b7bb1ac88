// Dead letters put where the shippers put them, while no Stint runs on the directory.
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { createLog } from '../../src/log.ts'
import { openDeadLetters } from '../../src/state/dead-letters.ts'

type Letters = Parameters<ReturnType<typeof openDeadLetters>['bury']>[0]

export function buryIn(dataDir: string, letters: Letters): void {
  const log = createLog({ level: 'silent', pretty: false })
  const dead = openDeadLetters({ path: join(dataDir, 'dead.sqlite'), maxBytes: 1e9, clock: systemClock, log })
  dead.bury(letters)
  dead.close()
}
