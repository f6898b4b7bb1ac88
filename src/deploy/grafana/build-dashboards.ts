// `bun run dashboards [--max-run 24h]`: writes the generated files. They are committed; test/deploy/dashboards.test.ts fails when they are stale.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../../config.ts'
import { renderDashboards } from './render-dashboards.ts'

const { values } = parseArgs({ options: { 'max-run': { type: 'string' } } })
const { maxRunUs } = readConfig(values['max-run'] === undefined ? {} : { MAX_RUN: values['max-run'] })

for (const [name, text] of renderDashboards(BigInt(maxRunUs) * 1000n)) {
  const path = join(import.meta.dir, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
