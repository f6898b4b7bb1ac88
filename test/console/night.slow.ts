// A night replayed on the demo: from the link of a notification on a phone to its cause, and acknowledged.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { PASSWORD, signInAt } from '../support/caller.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { cannotRun, expectQuiet, USUAL_PHONE, visit } from './console-visit.ts'

const MAIN = join(import.meta.dir, '../../src/demo/main.ts')
const TOUCHES_MAX = 3

test.skipIf(cannotRun())(
  'on a phone an alert of the demo is understood and acknowledged in at most three touches',
  async () => {
    const tmp = tempDir('night')
    const env = { PATH: process.env.PATH!, HOME: tmp, TMPDIR: tmp }
    const demo = Bun.spawn([process.execPath, MAIN], { cwd: tmp, env, stdout: 'pipe', stderr: 'ignore' })
    try {
      let said = ''
      void (async () => {
        for await (const chunk of demo.stdout) said += Buffer.from(chunk).toString()
      })()
      await until('the demo is ready', () => said.includes('until Ctrl-C') || demo.exitCode !== null, 90_000)
      const [, url = '', email = '', password = PASSWORD] =
        /(http:\S+)\/ +sign in as (\S+), password (\S+)/.exec(said) ?? []
      const bySession = await signInAt(url, email, password)
      const find = async () =>
        (await bySession.get('/api/alerts?state=firing')).json.alerts.find(
          ({ process }: { process: string }) => process === 'send invoices',
        )
      await until('an alert of the demo fires', async () => (await find()) !== undefined)
      const { path } = await find()

      const mine = await visit(url, USUAL_PHONE)
      const { page } = mine
      await page.request.post(`${url}/api/session`, { data: { email, password }, headers: { origin: url } })
      let touches = 1 // the link
      const from = performance.now()
      await page.goto(`${url}${path}`)
      const cause = page.locator('.process-why code')
      await cause.waitFor()
      const { y = Number.NaN, height = Number.NaN } = (await cause.boundingBox()) ?? {}
      expect(y + height).toBeLessThan(USUAL_PHONE.viewport.height) // seen without a touch
      const fold = page.locator('.process-why summary')
      expect(await fold.evaluate((element) => getComputedStyle(element).display)).toBe('list-item') // with its sign
      const acknowledge = page.getByRole('button', { name: 'Acknowledge' })
      const box = (await acknowledge.boundingBox())!
      expect(box.y + box.height).toBeLessThan(USUAL_PHONE.viewport.height)
      await acknowledge.tap()
      touches++
      await page.getByText(`${email} has acknowledged it at`).first().waitFor()
      console.info(`acknowledged ${Math.round(performance.now() - from)} ms after the link`)
      expect(touches).toBeLessThanOrEqual(TOUCHES_MAX)
      await page.getByRole('heading', { name: 'This run beside the last good one' }).waitFor()
      expectQuiet(mine)
      await mine.close()
    } finally {
      demo.kill('SIGINT')
      await demo.exited
    }
  },
)
