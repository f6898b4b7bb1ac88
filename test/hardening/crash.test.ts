// A crash of native code ends the process at once, says nothing that is secret, and loses nothing that was acknowledged.
import { expect, test } from 'bun:test'
import { engineMissing } from '../support/engine.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'

const ENDS_WITHIN_MS = 60_000

test.skipIf(engineMissing !== undefined || process.platform !== 'linux')(
  'with the embedded engine too, whose own handlers would hang for minutes',
  async () => {
    await using stint = createStintProcess({ SETUP_CODE: 'a-set-up-code-that-is-secret' })
    await stint.start()
    const answer = await fetch(`${stint.url}/api/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        email: 'ada@example.com',
        password: 'a-password-that-is-secret',
        setup_code: 'a-set-up-code-that-is-secret',
      }),
    })
    const { key } = (await answer.json()) as { key: { secret: string } }
    const headers = { 'x-stint-api-key': key.secret, 'content-type': 'application/json' }
    const send = (n: number) =>
      fetch(`${stint.url}/v1/exception`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ process: 'p', exception: `${n}` }),
      })
    await send(1)
    await untilShipped(stint.url, ENDS_WITHIN_MS) // the engine has run by now
    for (let n = 2; n < 50; n++) expect((await send(n)).status).toBe(201)

    const since = performance.now()
    process.kill(stint.pid(), 'SIGSEGV')
    expect(await stint.ended()).not.toBe(0)
    expect(performance.now() - since).toBeLessThan(ENDS_WITHIN_MS)
    for (const secret of [key.secret, 'a-password-that-is-secret', 'a-set-up-code-that-is-secret'])
      expect(stint.log()).not.toContain(secret)

    await stint.start()
    await untilShipped(stint.url, ENDS_WITHIN_MS)
    const { exceptions } = (await (await fetch(`${stint.url}/api/exceptions`, { headers })).json()) as {
      exceptions: { exception: string }[]
    }
    expect(exceptions.map(({ exception }) => Number(exception)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 49 }, (_, i) => i + 1),
    )
  },
)
