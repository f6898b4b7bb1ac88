import { expect, test } from 'bun:test'
import { createCompleteBody, type ToldException } from '../../../src/notify/delivery/complete-body.ts'
import { toSubject, toText } from '../../../src/notify/delivery/notification-text.ts'
import type { NotificationBody } from '../../../src/notify/notification.ts'
import { notificationOf } from '../../watch/watch-cast.ts'

const { body } = notificationOf('msg_1', 'cha_1')
const failure: NotificationBody = {
  ...body,
  data: { ...body.data, condition: 'failed', exception: 'Error: disk full', started_at: '2026-11-21T03:00:00.000Z' },
  facts: [
    ['Process', 'nightly'],
    ['Exception', 'Error: disk full'],
  ],
}

const complete = (previous: string | null | undefined, told: NotificationBody = failure, isWebhook = false) =>
  createCompleteBody({ noteOf: async () => 'call ada', previousOf: async () => previous })('acc_1', told, isWebhook)
const lineOf = async (previous: string | null | undefined) =>
  toText([await complete(previous)])
    .split('\n')
    .find((line) => line.startsWith('Exception'))

test('the line of the reason says that the exception is new or came again, and nothing while that is not known', async () => {
  expect(await lineOf(null)).toBe('Exception: Error: disk full (new)')
  expect(await lineOf('2026-11-09T03:00:00.000000000Z')).toBe('Exception: Error: disk full (again after 12 days)')
  expect(await lineOf('2026-11-20T03:09:59.000000000Z')).toBe('Exception: Error: disk full (again after 1 day)')
  expect(await lineOf('2026-11-20T03:11:00.000000000Z')).toBe('Exception: Error: disk full')
  expect(await lineOf(undefined)).toBe('Exception: Error: disk full')
})

test('only the beginning of a failure with an exception is looked up, by its run', async () => {
  const asked: ToldException[] = []
  const previousOf = async (told: ToldException) => void asked.push(told)
  const look = createCompleteBody({ noteOf: async () => null, previousOf })
  const { data } = failure
  for (const other of [
    body,
    { ...failure, type: 'alert.resolved' as const },
    { ...failure, data: { ...data, exception: null } },
  ])
    await look('acc_1', other, true)
  expect(asked).toEqual([])
  await look('acc_1', failure, true)
  expect(asked).toEqual([
    {
      ...{ account: 'acc_1', process: 'nightly <import>', meta: '', headline: 'Error: disk full' },
      ...{ from: '2026-11-21T03:00:00.000Z', at: '2026-11-21T03:10:00.000Z' },
    },
  ])
})

test('a webhook gets the note and the time before, chat and mail no note', async () => {
  const hook = await complete('2026-11-09T03:00:00.000000000Z', failure, true)
  expect(hook.data).toMatchObject({ note: 'call ada', exception_previous_at: '2026-11-09T03:00:00.000000000Z' })
  const chat = await complete(null)
  expect(chat.data.note).toBeNull()
  expect(toText([chat]) + toSubject([chat])).not.toContain('call ada')
  expect((await complete(undefined, failure, true)).data).not.toContainKey('exception_previous_at')
})

test('a webhook goes without the note while the database is away', async () => {
  const noteOf = () => Promise.reject(new Error('away'))
  const told = await createCompleteBody({ noteOf, previousOf: async () => undefined })('acc_1', failure, true)
  expect(told.data.note).toBeNull()
})
