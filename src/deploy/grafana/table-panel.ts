// A table as Grafana's JSON has it.
import { type Head, head, type Panel, type Shade, thresholds, type Unit, valueMappings } from './panels.ts'

interface Column {
  readonly unit?: Unit
  /** The address a cell leads to. */
  readonly link?: { readonly title: string; readonly url: string }
  /** The meanings of the values, shown as coloured cells. */
  readonly shades?: readonly Shade[]
  /** Red text from this value on. */
  readonly redFrom?: number
}

interface TableOptions extends Head {
  /** Their names, in their order. */
  readonly columns: string
  /** Of those that are not plain text. */
  readonly looks?: Readonly<Record<string, Column>>
  /** Joins the rows of several targets that agree in all columns they share. */
  readonly merge?: boolean
  /** The newest first. */
  readonly sortBy?: string
}

export function table({ columns, looks = {}, merge = false, sortBy, ...of }: TableOptions): Panel {
  const names = columns.split(' ')
  const { transformations, ...common } = head(of)
  const prefix = of.targets[0]?.prefix ?? ''
  return {
    type: 'table',
    ...common,
    fieldConfig: {
      defaults: { custom: { align: 'auto', cellOptions: { type: 'auto' }, filterable: true, inspect: true } },
      overrides: Object.entries(looks).map(([name, column]) => ({
        matcher: { id: 'byName', options: name },
        properties: propertiesOf(column),
      })),
    },
    options: {
      cellHeight: 'sm',
      frameIndex: 0,
      showHeader: true,
      ...(sortBy !== undefined && { sortBy: [{ displayName: sortBy, desc: true }] }),
    },
    transformations: [
      ...transformations,
      ...(merge ? [{ id: 'merge', options: {} }] : []),
      {
        id: 'organize',
        options: {
          excludeByName: {},
          indexByName: Object.fromEntries(names.map((name, i) => [prefix + name, i])),
          renameByName: prefix === '' ? {} : Object.fromEntries(names.map((name) => [prefix + name, name])),
        },
      },
    ],
  }
}

const propertiesOf = ({ unit, link, shades, redFrom }: Column): { id: string; value: unknown }[] => [
  ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
  ...(link === undefined ? [] : [{ id: 'links', value: [{ ...link, targetBlank: false }] }]),
  ...(shades === undefined
    ? []
    : [
        { id: 'mappings', value: valueMappings(shades) },
        { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
      ]),
  ...(redFrom === undefined
    ? []
    : [
        { id: 'thresholds', value: thresholds(redFrom) },
        { id: 'custom.cellOptions', value: { type: 'color-text' } },
      ]),
]
