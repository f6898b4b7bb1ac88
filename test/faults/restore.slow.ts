// Backups that are made under load and restored as src/deploy/README.md says.
import { expect, test } from 'bun:test'
import { lacks } from '../support/fault-trial.ts'
import { KILL, RESTORE } from './round.ts'
import { survive } from './survive.ts'

test.skipIf(lacks('chdb', 'influxd')).each(['embedded', 'remote'] as const)(
  '%s: a backup made under load and restored holds all that it had acknowledged, what is sent again is there once, and nothing in the stores is overwritten',
  async (name) => {
    const counts = await survive(name, [RESTORE, KILL, RESTORE])
    expect(counts.beyondBackups).toBeGreaterThan(0)
    if (name === 'remote') expect(counts.elsewhere).toBeGreaterThan(0)
  },
)
