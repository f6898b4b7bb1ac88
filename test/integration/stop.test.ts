// Asked to stop: what is in flight is finished, also when one Ctrl-C arrives twice; asked again later it ends at once.
import { expect, test } from 'bun:test'
import { createStintProcess, STORES_AWAY } from '../support/process.ts'
import { openRaw } from '../support/raw-http.ts'
import { until } from '../support/until.ts'

const BODY = '{"process":"p"}'

test('a Ctrl-C that arrives twice still lets a request finish; a signal a second later ends the process', async () => {
  await using stint = createStintProcess(STORES_AWAY)
  await stint.start()
  const { secret } = await stint.signUp('ada@example.com')
  /** Of which all but the last byte has come. */
  const beginRequest = async () => {
    const connection = await openRaw(Number(new URL(stint.url).port))
    const head = [
      'POST /v1/start HTTP/1.1',
      'host: stint',
      `x-stint-api-key: ${secret}`,
      'content-type: application/json',
    ]
    await connection.write(`${head.join('\r\n')}\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY.slice(0, -1)}`)
    return connection
  }
  const [finished] = [await beginRequest(), await beginRequest()]
  await fetch(`${stint.url}/livez`) // it came later, and is answered: those before have been begun
  const interrupt = () => process.kill(stint.pid(), 'SIGINT')

  const since = performance.now()
  interrupt()
  await until('stopping', () => stint.log().includes('"stopping"'))
  interrupt()
  await finished.write(BODY.slice(-1))
  expect((await finished.answer()).status).toBe(201)
  expect(stint.log()).not.toContain('second signal')

  await until('a second', () => performance.now() - since > 1200)
  interrupt()
  expect(await stint.ended()).toBe(1)
  expect(stint.log()).toContain('second signal')
})
