// The committed dashboards are what Grafana's own types say a dashboard is: @grafana/schema is generated from the schema that Grafana itself uses.
// The compiler checks the JSON as a literal, so that a property that Grafana does not know, or a value it does not take, is an error.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '../..')
const DASHBOARDS = join(ROOT, 'src/deploy/grafana/dashboards')

/** What a kind of panel has beside what the package says of it: Grafana's own code does not take this one from the schema. */
const MORE: Readonly<Record<string, string>> = { StateTimeline: '{ spanNulls?: boolean }' }

/** Where the package keeps the options of a kind of panel. */
const PANELS: Readonly<Record<string, string>> = {
  barchart: 'BarChart',
  heatmap: 'Heatmap',
  stat: 'Stat',
  'state-timeline': 'StateTimeline',
  table: 'Table',
  timeseries: 'TimeSeries',
}

interface JsonPanel {
  readonly type: string
  readonly options: object
  readonly fieldConfig: { readonly defaults: { readonly custom?: object } }
}

// within node_modules: the package must be found from there
const dir = mkdtempSync(join(ROOT, 'node_modules/.stint-schema-'))

// An enum of texts takes no text that is written out.
const HEAD = `import type { Dashboard } from '@grafana/schema'
${Object.entries(PANELS)
  .map(
    ([type, name]) =>
      `import type * as ${name} from '@grafana/schema/dist/esm/raw/composable/${type.replace('-', '')}/panelcfg/x/${name}PanelCfg_types.gen'`,
  )
  .join('\n')}
type Json<T> = T extends string ? \`\${T}\` : T extends readonly (infer U)[] ? Json<U>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T
`

interface JsonDashboard {
  readonly panels: readonly JsonPanel[]
  readonly annotations: { readonly list: readonly { readonly target?: object }[] }
}

/** The package leaves out what a data source's own plugin adds to the query of an annotation. */
const withoutQueries = ({ annotations, ...others }: JsonDashboard) => ({
  ...others,
  annotations: {
    list: annotations.list.map(({ target, ...annotation }) => ({
      ...annotation,
      ...(target !== undefined && { target: { refId: (target as { refId: string }).refId } }),
    })),
  },
})

function toSource(dashboard: JsonDashboard): string {
  const panels = dashboard.panels.map(({ type, options, fieldConfig }, i) => {
    const name = PANELS[type]
    if (name === undefined) throw new Error(`no types for panels of type ${type}`)
    const custom = fieldConfig.defaults.custom
    return [
      `export const options${i}: Json<${name}.Options> = ${JSON.stringify(options)}`,
      ...(custom === undefined
        ? []
        : [
            `export const custom${i}: Json<${name}.FieldConfig> & ${MORE[name] ?? 'object'} = ${JSON.stringify(custom)}`,
          ]),
    ].join('\n')
  })
  return `${HEAD}\nexport const dashboard: Json<Dashboard> = ${JSON.stringify(withoutQueries(dashboard))}\n${panels.join('\n')}\n`
}

/** What the compiler says of the sources, by name. */
function compile(sources: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(dir, `${name}.ts`), text)
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        module: 'Preserve',
        moduleResolution: 'Bundler',
        target: 'ESNext',
        types: [],
      },
      files: Object.keys(sources).map((name) => `${name}.ts`),
    }),
  )
  const tsc = Bun.spawnSync([process.execPath, 'x', 'tsc', '-p', dir], { cwd: ROOT })
  return tsc.stdout.toString() + tsc.stderr.toString()
}

const files = [...new Glob('*/*.json').scanSync(DASHBOARDS)].sort()
const readDashboard = (file: string) => JSON.parse(readFileSync(join(DASHBOARDS, file), 'utf8'))

describe('the dashboards', () => {
  test('fit the schema of Grafana, which rejects invalid ones', () => {
    const sources = Object.fromEntries(files.map((file) => [file.replace(/\W/g, '_'), toSource(readDashboard(file))]))
    const broken = readDashboard('influxdb/process.json')
    broken.templating.list[0].refrehs = 2
    broken.panels.find((panel: JsonPanel) => panel.type === 'barchart').options.showValue = 'sometimes'
    broken.panels.find((panel: JsonPanel) => panel.type === 'timeseries').fieldConfig.defaults.custom.drawStyle = 'dots'
    const said = compile({ ...sources, broken: toSource(broken) }).split('\n')

    expect(said.filter((line) => /error/.test(line) && !line.includes('broken.ts'))).toEqual([])
    const errors = said.filter((line) => line.includes('broken.ts')).join('\n')
    expect(errors).toMatch(/refrehs/)
    expect(errors).toMatch(/sometimes/)
    expect(errors).toMatch(/dots/)
  })

  test('have unique ids and no overlapping panels', () => {
    expect(files.length).toBe(6)
    for (const file of files) {
      const { panels, uid } = readDashboard(file)
      expect(uid).toMatch(/^[a-z-]{1,40}$/)
      expect(new Set(panels.map(({ id }: { id: number }) => id)).size).toBe(panels.length)
      const cells = new Set<string>()
      for (const { gridPos } of panels)
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
            expect(x).toBeLessThan(24)
            expect(cells.has(`${x} ${y}`)).toBe(false)
            cells.add(`${x} ${y}`)
          }
    }
  })
})
