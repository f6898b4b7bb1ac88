// Versions of a database's schema. A new one gets the tables and every step; an existing one the steps it lacks.

export interface Schema {
  /** The version of `tables`: what the oldest Stint left that this one can open. */
  readonly oldest: number
  readonly tables: string
  /** Step n leads from version `oldest` + n − 1 to the next. Never edit a released step; add one. */
  readonly steps: readonly string[]
}

export const newestVersion = ({ oldest, steps }: Schema): number => oldest + steps.length

/** Brings a database of `version` up to date; 0 = it is empty. */
export const stepsFrom = ({ oldest, tables, steps }: Schema, version: number): readonly string[] =>
  version === 0 ? [tables, ...steps] : steps.slice(version - oldest)

/** Throws an Error for the operator if this Stint cannot open `what`, a database of `version`. */
export function checkSchemaVersion(schema: Schema, version: number, what: string): void {
  if (version < schema.oldest)
    throw new Error(`${what} was written by a Stint before 2.0: start 2.0 once, then this version`)
  const newest = newestVersion(schema)
  if (version > newest)
    throw new Error(
      `${what} was written by a newer Stint (schema ${version}, this one knows ${newest}): start that version, or ` +
        'restore a backup made before the upgrade',
    )
}
