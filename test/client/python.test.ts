// The Python client: its quick tests, and what it sends as the real intake sees it. All its tests: python.slow.ts.
import { expect, test } from 'bun:test'
import { timeUs } from '../../src/event/stamp.ts'
import { startApp } from '../support/app.ts'
import { findPython, missing } from '../support/needs.ts'
import { expectPass, pythonEnv } from './python/run-unittest.ts'

test.skipIf(missing('python') !== undefined)('passes its quick tests', () =>
  expectPass(findPython()!, [
    ...['RunTest', 'TimedTest', 'LoggingExampleTest'],
    'DeliveryTest.test_of_a_batch_accepted_in_part_each_event_goes_its_own_way',
    'DeliveryTest.test_other_refusals_drop_the_batch_and_say_why',
    'ExitTest.test_everything_is_sent_before_a_process_ends',
    'ExitTest.test_sigterm_sends_the_last_events_and_ends_by_the_signal',
    'BacklogTest.test_the_next_process_sends_what_a_killed_one_left',
  ]),
)

test.skipIf(missing('python') !== undefined)('sends what the real intake accepts', async () => {
  const app = await startApp()
  const code = `
import stint

with stint.run("import", meta="eu", uid="one") as run:
    run.metrics({"rows": 3, "seconds": 1.5})
try:
    with stint.run("import", uid="two"):
        raise OSError("disk full")
except OSError:
    pass
assert stint.flush(20)
`
  const child = Bun.spawn([findPython()!, '-c', code], {
    env: pythonEnv({ STINT_URL: app.url, STINT_API_KEY: app.keys.writer }),
    stderr: 'pipe',
  })
  expect(await new Response(child.stderr).text()).toBe('')
  expect(await child.exited).toBe(0)
  const events = (await app.events()).toSorted((a, b) => timeUs(a.stamp) - timeUs(b.stamp))
  expect(events).toMatchObject([
    { kind: 'start', process: 'import', meta: 'eu', uid: 'one' },
    { kind: 'metrics', uid: 'one' },
    { kind: 'end', uid: 'one' },
    { kind: 'start', meta: '', uid: 'two' },
    { kind: 'exception', uid: 'two', exception: expect.stringContaining('OSError: disk full') },
    { kind: 'end', uid: 'two', failed: true },
  ])
  await app.stop()
})
