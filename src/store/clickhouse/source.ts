// Answers questions from ClickHouse.
import { familiesIn } from '../../event/event.ts'
import type { ExceptionSource, PointSource } from '../source.ts'
import type { ClickHouseClient } from './client.ts'
import { CLUSTER_SELECT_SETTINGS } from './cluster.ts'
import { createExceptionQuestions } from './exceptions.ts'
import { createMarkQuestions } from './marks.ts'
import { createMetricQuestions } from './metrics.ts'
import { findProcesses } from './processes.ts'
import type { Schema } from './schema.ts'
import { type Bounds, createBoundedSelect } from './selection.ts'
import { createTextQuestions } from './texts.ts'
import { createTimingQuestions } from './timings.ts'

/** `client` belongs to the store, which closes it. */
export function createClickHouseSource(
  client: ClickHouseClient,
  schema: Schema,
  bounds: Omit<Bounds, 'settings'> = {},
): PointSource & ExceptionSource {
  const select = createBoundedSelect(client, { ...bounds, settings: schema.cluster && CLUSTER_SELECT_SETTINGS })
  return {
    ...createTimingQuestions(select, schema),
    ...createMarkQuestions(select, schema),
    ...createMetricQuestions(select, schema),
    ...createExceptionQuestions(select, schema),
    ...createTextQuestions(select, schema),
    findPointProcesses: (q) => findProcesses(select, schema, familiesIn('points'), q),
    findExceptionProcesses: (q) => findProcesses(select, schema, familiesIn('exceptions'), q),
    async close() {},
  }
}
