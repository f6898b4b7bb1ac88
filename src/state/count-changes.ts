// A database that counts the statements that changed a row, so that an answer made from it can be known to be current.
// Every table counts unless it is excepted: counting one change too often costs little, missing one hides it.
import type { Script, SqlDatabase } from './database.ts'

const READS = /^\s*SELECT\b/i
const CHANGES = /^\s*(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)/i

/** `except`: tables whose changes no answer shows. */
export function countChanges(database: SqlDatabase, except: ReadonlySet<string>) {
  let changes = 0

  const counts = (sql: string): boolean => !READS.test(sql) && !except.has(CHANGES.exec(sql)?.[1] ?? '')

  function* counted<T>(script: Script<T>): Script<T> {
    let step = script.next()
    while (!step.done) {
      const statement = step.value
      const result = yield statement
      if (result.changes + result.rows.length > 0 && counts(statement.sql)) changes++
      step = script.next(result)
    }
    return step.value
  }

  return {
    ...database,
    write: <T>(script: () => Script<T>): Promise<T> => database.write(() => counted(script())),
    /** Grows with every change, at the latest when it can be read. */
    changes: (): number => changes,
  }
}
