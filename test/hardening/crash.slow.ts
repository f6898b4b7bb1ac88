// A crash of native code ends the process at once, says nothing that is secret, and loses nothing that was acknowledged.
import { expect, test } from 'bun:test'
import { createCaller } from '../support/caller.ts'
import { engineMissing } from '../support/engine.ts'
import { untilShipped } from '../support/oracle.ts'
import { createStintProcess } from '../support/process.ts'

const ENDS_WITHIN_MS = 60_000

test.skipIf(engineMissing !== undefined || process.platform !== 'linux')(
  'with the embedded engine too, whose own handlers would hang for minutes',
  async () => {
    await using stint = createStintProcess({ SETUP_CODE: 'a-set-up-code-that-is-secret' })
    await stint.start()
    const secrets = { password: 'a-password-that-is-secret', setup_code: 'a-set-up-code-that-is-secret' }
    const made = await createCaller(stint.url).post('/api/accounts', { email: 'ada@example.com', ...secrets })
    const { secret: key } = made.json.key
    const ada = createCaller(stint.url, { key })
    const send = (n: number) => ada.post('/v1/exception', { process: 'p', exception: `${n}` })
    await send(1)
    await untilShipped(stint.url, ENDS_WITHIN_MS) // the engine has run by now
    for (let n = 2; n < 50; n++) expect((await send(n)).status).toBe(201)

    process.kill(stint.pid(), 'SIGSEGV')
    const ended = await Promise.race([stint.ended(), Bun.sleep(ENDS_WITHIN_MS).then(() => 'hangs')])
    expect([0, 'hangs']).not.toContain(ended)
    for (const secret of [key, ...Object.values(secrets)]) expect(stint.log()).not.toContain(secret)

    await stint.start()
    await untilShipped(stint.url, ENDS_WITHIN_MS)
    const { exceptions } = (await ada.get('/api/exceptions')).json
    expect(
      exceptions.map(({ exception }: { exception: string }) => Number(exception)).sort((a: number, b: number) => a - b),
    ).toEqual(Array.from({ length: 49 }, (_, i) => i + 1))
  },
)
