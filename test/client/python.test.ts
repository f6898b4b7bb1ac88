// The quick tests of the Python client. All of them: python.slow.ts.
import { test } from 'bun:test'
import { findPython, missing } from '../support/needs.ts'
import { expectPass } from './python/run-unittest.ts'

test.skipIf(missing('python') !== undefined)('passes its quick tests', () =>
  expectPass(findPython()!, [
    ...['RunTest', 'HostileTest', 'TimedTest', 'LoggingExampleTest'],
    'DeliveryTest.test_of_a_batch_accepted_in_part_each_event_goes_its_own_way',
    'DeliveryTest.test_starts_and_ends_do_not_wait_behind_what_a_spent_quota_refuses',
    'DeliveryTest.test_other_refusals_drop_the_batch_and_say_why',
    'ExitTest.test_sigterm_sends_the_last_events_and_ends_by_the_signal',
  ]),
)
