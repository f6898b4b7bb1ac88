// Where a value is not of its schema in src/wire: a member that is missing, undescribed or of another type.
import { FormatRegistry, type TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

for (const format of ['date-time', 'email', 'password', 'uri'])
  if (!FormatRegistry.Has(format)) FormatRegistry.Set(format, () => true)

export function misfits(schema: TSchema, value: unknown): string[] {
  const wrong = [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`)
  const described = Value.Clean(schema, structuredClone(value))
  return Bun.deepEquals(described, value) ? wrong : [...wrong, `described is only ${JSON.stringify(described)}`]
}
