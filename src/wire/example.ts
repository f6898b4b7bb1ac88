// The example of an answer, made from those of its members, which are declared with each.
import type { Static, TSchema } from '@sinclair/typebox'

/**
 * Members that may be null or absent are so, unless they have an example. Without one a number is its least, and a list
 * has one item.
 */
export const exampleOf = <T extends TSchema>(schema: T): Static<T> => make(schema) as Static<T>

function make({ examples, const: constant, anyOf, type, minimum, items, properties, required }: TSchema): unknown {
  if (examples !== undefined) return examples[0]
  if (constant !== undefined) return constant
  if (anyOf !== undefined) return anyOf.some((one: TSchema) => one.type === 'null') ? null : make(anyOf[0])
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Record<string, TSchema>)
          .filter(([name, member]) => required?.includes(name) || member.examples !== undefined)
          .map(([name, member]) => [name, make(member)]),
      )
    case 'array':
      return [make(items)]
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return minimum ?? 0
    default:
      return ''
  }
}
