// A watch's conditions and their fields: README, command line and API say of them what one table says.
import { expect, test } from 'bun:test'
import {
  aboutField,
  CONDITION_TABLE,
  CONDITIONS,
  type Condition,
  describeConditions,
  WATCH_FIELD_TEXTS,
  WATCH_FIELDS,
  type WatchField,
  type WatchFieldName,
} from '../../src/wire/conditions.ts'
import { CreateWatch, type Watch } from '../../src/wire/watches.ts'
import { tableUnder } from '../support/readme.ts'

const README = 'src/watch/README.md'
const FIELDS = Object.entries<WatchField>(WATCH_FIELDS)

const RULES: Readonly<Record<Condition, readonly [fires: string, resolves: string]>> = {
  late: ['no start arrived by its due time plus the grace', 'a start arrives'],
  long: ['a run has been running longer; each run is an alert of its own', 'that run ends'],
  failed: [
    'a run failed or never finished, n times in a row; optionally also on an exception',
    'the next completed run',
  ],
  metric: ['a figure over a window is above or below a number, optionally for some time', 'it is back in range'],
  slow: ['a run takes k times the median of the last 20 completed runs', 'the next run does not'],
}

test('the README has each condition with when it fires and resolves', () => {
  const rows = CONDITIONS.map((name) => [`\`${name}\``, ...RULES[name]])
  expect(tableUnder(README, 'Conditions')).toEqual(rows)
})

test('the README has each field with its flag and its meaning', () => {
  const rows = Object.entries(WATCH_FIELD_TEXTS).map(([name, { flag, about }]) => [
    `\`${name.replace('/', '.')}\``,
    `\`${flag}\``,
    about,
  ])
  expect(tableUnder(README, 'Fields')).toEqual(rows)
})

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
}

/** The schema of a member, without the null that it also takes. */
const memberOf = ({ properties }: Schema, name: string): Schema => {
  const member = properties?.[name] ?? {}
  return member.description === undefined && member.anyOf !== undefined ? member.anyOf[0]! : member
}

test('the request describes every field so, and has no other', () => {
  const described = FIELDS.map(([path]) => {
    const [condition = '', member] = path.split('/')
    const schema = memberOf(CreateWatch, condition)
    return [path, (member === undefined ? schema : memberOf(schema, member)).description]
  })
  expect(described).toEqual(FIELDS.map(([path]) => [path, aboutField(path as WatchFieldName)]))
  const paths = [...Object.keys(CONDITION_TABLE), 'remind'].flatMap((condition) => {
    const { properties } = memberOf(CreateWatch, condition)
    return properties === undefined ? [condition] : Object.keys(properties).map((member) => `${condition}/${member}`)
  })
  expect(paths.toSorted()).toEqual(FIELDS.map(([path]) => path).toSorted())
})

test('a watch in words', () => {
  const none = { late: null, long: null, failed: null, metric: null, slow: null, next_due: null }
  const words = (some: Partial<Watch>) => describeConditions({ ...none, ...some })
  expect(words({ long: '1m', failed: { after: 1, exceptions: false } })).toBe('runs longer than 1 min, or fails')
  expect(words({ late: { every: '2h' }, failed: { after: 3, exceptions: true }, slow: 2 })).toBe(
    'is late (every 2 h), fails 3 times in a row, raises an exception, or takes 2× the usual time',
  )
  expect(words({ metric: { name: 'rows', window: '10m', of: 'last', below: 5 } })).toBe('has rows below 5')
})
