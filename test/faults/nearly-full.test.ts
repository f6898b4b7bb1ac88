// A disk of 1 GB that one sender fills, with one account or with 200: others are taken all the while, and what was accepted is stored.
import { expect, test } from 'bun:test'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { PASSWORD } from '../support/caller.ts'
import { mountSmallDisk } from '../support/fault-small-disk.ts'
import { missing } from '../support/needs.ts'
import { createStepClock } from '../support/step-clock.ts'
import { until } from '../support/until.ts'

const MB = 1_000_000
const WEEK_US = 7 * 86_400 * 1e6
const BATCH = JSON.stringify(Array(250).fill({ kind: 'exception', process: 'p', exception: 'x'.repeat(15_000) }))
const START = JSON.stringify({ process: 'nightly import' })
const JSON_TYPE = { 'content-type': 'application/json' }

const signUp = async ({ rooms }: TestApp, name: string) =>
  (await rooms.accounts.create({ email: `${name}@example.com`, password: PASSWORD, address: `${name}-net` })).key.secret

test.skipIf(missing('tmpfs') !== undefined).each([1, 200])(
  'bob is taken while eve fills the disk with %p accounts, and nothing accepted is lost',
  async (count) => {
    const disk = mountSmallDisk(1000)
    try {
      const clock = createStepClock(Date.now() * 1000)
      const env = { DATA_DIR: join(disk.dir, 'data') }
      await using app = await startApp({ env, clock, signup: 'open', spoolMaxBytes: 2 ** 33 })
      const bob = await signUp(app, 'bob')
      clock.pass(WEEK_US + 1e6)
      const eves: string[] = []
      for (let i = 0; i < count; i++) eves.push(await signUp(app, `eve${i}`))
      fillUp(disk.dir, 840)
      let accepted = 0
      let bobs = 0
      const codes = new Set<string>()
      const sendAsEve = async (i: number) => {
        const answer = await app.fetch('/v1/batch', {
          ...{ method: 'POST', key: eves[i % count]!, headers: JSON_TYPE, body: BATCH },
        })
        accepted += answer.json.accepted ?? 0
        if (answer.status >= 400) codes.add(answer.json.code)
        return answer.status
      }
      const sendAsBob = async () => {
        const { status } = await app.fetch('/v1/start', { method: 'POST', key: bob, headers: JSON_TYPE, body: START })
        expect(status).toBe(201)
        bobs++
      }
      let refusals = 0
      for (let i = 0; refusals < 20 && i < 300; i += 2) {
        const answers = await Promise.all([0, 1].map((j) => sendAsEve(i + j)))
        await sendAsBob()
        refusals += answers.filter((status) => status === 503).length
      }
      expect([...codes]).toEqual(['disk_low'])
      await until('the account that sends most is refused', async () => (await sendAsEve(0)) === 503)
      for (let i = 0; i < 50; i++) await sendAsBob()
      const events = await app.events()
      expect(events.length).toBe(accepted + bobs)
    } finally {
      disk.unmount()
    }
  },
  30_000,
)

/** Takes so many MB of the disk. */
function fillUp(dir: string, megabytes: number): void {
  const file = openSync(join(dir, 'filler'), 'w')
  const zeros = new Uint8Array(MB)
  for (let i = 0; i < megabytes; i++) writeSync(file, zeros)
  closeSync(file)
}
