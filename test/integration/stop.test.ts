// Asked to stop: what is in flight is finished, also when one Ctrl-C arrives twice; asked again later it ends at once.
import { expect, test } from 'bun:test'
import { createStintProcess, STORES_AWAY, type StintProcess } from '../support/process.ts'
import { openRaw, type RawConnection } from '../support/raw-http.ts'
import { until } from '../support/until.ts'

const BODY = '{"process":"p"}'

/** Started, with a request in flight of which all but the last byte has come. */
async function withRequestInFlight(): Promise<{ stint: StintProcess; connection: RawConnection }> {
  const stint = createStintProcess(STORES_AWAY)
  await stint.start()
  const { secret } = await stint.signUp('ada@example.com')
  const connection = await openRaw(Number(new URL(stint.url).port))
  const head = [
    'POST /v1/start HTTP/1.1',
    'host: stint',
    `x-stint-api-key: ${secret}`,
    'content-type: application/json',
  ]
  await connection.write(`${head.join('\r\n')}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, -1)}`)
  await fetch(`${stint.url}/livez`) // it came later, and is answered: the one before has been begun
  return { stint, connection }
}

const interrupt = (stint: StintProcess) => process.kill(stint.pid(), 'SIGINT')

test('a Ctrl-C that arrives twice still lets a request finish', async () => {
  const { stint, connection } = await withRequestInFlight()
  interrupt(stint)
  await until('stopping', () => stint.log().includes('"stopping"'))
  interrupt(stint)
  await connection.write(BODY.slice(-1))
  expect((await connection.answer()).status).toBe(201)
  expect(await stint.ended()).toBe(0)
  expect(stint.log()).not.toContain('second signal')
})

test('a second signal a second later ends the process immediately', async () => {
  const { stint } = await withRequestInFlight()
  interrupt(stint)
  const since = performance.now()
  await until('a second', () => performance.now() - since > 1200)
  interrupt(stint)
  expect(await stint.ended()).toBe(1)
  expect(stint.log()).toContain('second signal')
})
