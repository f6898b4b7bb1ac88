// A copy of DATA_DIR that cannot be used; that a copy made under load has everything is in test/faults/restore.slow.ts.
import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { engineMissing } from '../support/engine.ts'
import { createStintProcess } from '../support/process.ts'
import { tempDir } from '../support/temp-dir.ts'

test.skipIf(engineMissing !== undefined)('a copy without its symbolic links is refused with the reason', async () => {
  const copy = tempDir('backup')
  const stint = createStintProcess()
  const restored = createStintProcess({}, { dataDir: copy })
  try {
    await stint.start()
    await stint.terminate()
    cpSync(stint.dataDir, copy, { recursive: true, dereference: true })
    await expect(restored.start()).rejects.toThrow(/symbolic links are directories.*cp -a, rsync -a, tar/)
  } finally {
    await Promise.all([stint.close(), restored.close()])
  }
})
