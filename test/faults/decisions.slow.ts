// An upgrade of people's decisions: 50 groups that were ignored on 2.0 are ignored on this version, although it names them otherwise: no
// alert, no new group. Another fault in the same log is both.
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createCaller, signUpAt } from '../support/caller.ts'
import { lacks } from '../support/fault-trial.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { checkOut, readReleased } from '../support/released.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const GROUPS = 50
const WITHIN_MS = 60_000
const old = checkOut(readReleased('2.0.0').commit)
const WHAT = 'rates ledger bank sheet vault'.split(' ')
const HOW = 'closed missing broken late full stale wrong empty locked gone'.split(' ')
const textOf = (n: number): string =>
  JSON.stringify({ level: 'error', step: `s${n}`, msg: `the ${WHAT[n % 5]} is ${HOW[Math.floor(n / 5)]}` })

test.skipIf(lacks('chdb') || old === undefined)(
  `${GROUPS} groups that were ignored on 2.0 are no alert and not new on this version`,
  async () => {
    const dataDir = tempDir('decisions')
    const settings = { SIGNUP: 'open', NOTIFY_PRIVATE: 'true' }
    const before = createStintProcess(settings, { dataDir, entry: join(old!, 'src/main.ts') })
    const after = createStintProcess(settings, { dataDir })
    using receiver = startReceiver()
    try {
      await before.start()
      const { bySession, secret, cookie } = await signUpAt(before.url)
      const channel = { name: 'on call', kind: 'webhook', url: receiver.url }
      const made = await bySession.post('/api/channels', channel)
      const watch = { name: 'jobs', process: 'job', failed: { exceptions: true }, channels: [made.json.channel.id] }
      const send = async (url: string, n: number, text = textOf(n)) => {
        const byKey = createCaller(url, { key: secret })
        expect((await byKey.post('/v1/exception', { process: 'job', exception: text })).status).toBe(201)
      }
      for (let n = 0; n < GROUPS; n++) await send(before.url, n)
      await untilShipped(before.url, WITHIN_MS)
      const listed = await bySession.get('/api/exceptions/groups?from=-1h&limit=100')
      expect(listed.json.groups).toHaveLength(GROUPS)
      for (const { fingerprint } of listed.json.groups)
        await bySession.patch(`/api/exceptions/groups/${fingerprint}`, { status: 'ignored' })
      expect((await bySession.post('/api/watches', watch)).status).toBe(201)
      expect(await before.terminate()).toBe(0)

      await after.start()
      const again = createCaller(after.url, { cookie })
      for (let n = 0; n < GROUPS; n++) await send(after.url, n)
      await untilShipped(after.url, WITHIN_MS)
      const now = await again.get('/api/exceptions/groups?from=-1h&limit=100')
      expect(now.json.groups).toEqual([])
      expect(now.json.hidden).toEqual({ resolved: 0, ignored: GROUPS })
      await send(after.url, 0, JSON.stringify({ level: 'error', step: 's0', msg: 'the disk is full' }))
      await until('the other fault is an alert', () => receiver.requests.length > 0, WITHIN_MS)
      expect(receiver.requests.map(({ text }) => JSON.parse(text).data.exception)).toEqual(['ERROR the disk is full'])
      await untilShipped(after.url, WITHIN_MS)
      expect((await again.get('/api/exceptions/groups?from=-1h')).json.groups).toHaveLength(1)
      expect(await after.terminate()).toBe(0)
    } finally {
      await Promise.all([before.close(), after.close()])
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  300_000,
)
