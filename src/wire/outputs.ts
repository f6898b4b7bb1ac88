// Outputs of runs, which came with their ends and pings.
import { type Static, Type } from '@sinclair/typebox'
import { defineRoute, json, REPEATED_QUESTION } from './route.ts'
import { orNull, ProcessName, pageOf, Text, Time } from './shapes.ts'

export const OutputText = Type.Object({
  at: Time,
  process: ProcessName,
  meta: orNull(Type.String()),
  uid: Type.Optional(Type.String({ description: 'Of the run that said it, if it was sent with one.' })),
  output: Text('120412 rows imported, 3 skipped'),
})
export type OutputText = Static<typeof OutputText>

export const FIND_OUTPUTS = defineRoute('GET /api/outputs', {
  ...REPEATED_QUESTION,
  summary: 'List outputs',
  description: 'What runs have said, newest first. An output that came with an end has the time of this end.',
  parameters: ['from', 'to', 'process', 'meta', 'uid', 'limit', 'cursor'],
  answers: { 200: json('The outputs', pageOf('outputs', OutputText)) },
})
