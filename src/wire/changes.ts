// Whether something of the account was stored since an earlier question.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, LOCAL_QUESTION } from './route.ts'

export const ChangesAnswer = Type.Object({
  version: Type.String({ description: 'Differs once an event of the account was stored.' }),
  late: Type.String({ description: 'Differs once an event older than a minute was stored.' }),
  whole: Type.Boolean({ description: 'false: other nodes store events as well, which this node does not count.' }),
})
export type ChangesAnswer = Static<typeof ChangesAnswer>

export const FIND_CHANGES = defineRoute('GET /api/changes', {
  ...LOCAL_QUESTION,
  summary: 'Find out whether anything was stored',
  description: 'Costs no store anything: ask it often, and the other questions only when the version differs.',
  parameters: [],
  answers: {
    200: json('The version', ChangesAnswer, { version: 'mhz1c3k2a0.42', late: 'mhz1c3k2a0.0', whole: true }),
  },
})
