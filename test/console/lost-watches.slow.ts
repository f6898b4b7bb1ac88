// Home says that watches are gone with their file, until the operator dismisses it.
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createStintProcess } from '../support/process.ts'
import { inMemoryDir } from '../support/temp-dir.ts'
import { cannotRun, QUICK, startConsole } from './console-visit.ts'

test.skipIf(cannotRun())('the operator reads on Home that watches are gone, and dismisses it', async () => {
  const dataDir = inMemoryDir()
  const console = await startConsole({}, (settings) => createStintProcess(settings, { dataDir }))
  try {
    const { cookie, bySession } = await console.signUp('ada@example.com')
    await bySession.post('/api/watches', { name: 'w', process: 'p', channels: [], failed: {} })
    await console.stint.terminate()
    rmSync(join(dataDir, 'watches.sqlite'))
    await console.stint.start()
    const { page, go, complaints, close } = await console.visit(QUICK, cookie)
    await go('home')
    const line = page.getByText(/^1 watch is gone: watches\.sqlite was missing at the start of /)
    await line.waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await line.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await close()
  } finally {
    await console.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})
