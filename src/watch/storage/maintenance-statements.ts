// Maintenances in the store. A change lets the outbox look again at what is held back.
import { all, run, type Script, type SqlDatabase } from '../../state/database.ts'
import { countOf, type MaintenanceRow, toMaintenance } from './rows.ts'
import type { WatchStore } from './watch-store.ts'

type Own = 'maintenances' | 'addMaintenance' | 'putMaintenance' | 'removeMaintenance'

export function createMaintenanceStatements({ read, write }: SqlDatabase): Pick<WatchStore, Own> {
  return {
    async maintenances(account) {
      const select = 'SELECT * FROM maintenance WHERE account = $1 ORDER BY created_us, id'
      return (await read(() => all<MaintenanceRow>(select, account))).map(toMaintenance)
    },
    addMaintenance: ({ id, account, spec, createdUs }, max) =>
      write(function* () {
        if ((yield* countOf('maintenance', account)) >= max) return false
        const insert = 'INSERT INTO maintenance (id, account, spec, created_us) VALUES ($1, $2, $3, $4)'
        yield* run(insert, id, account, JSON.stringify(spec), createdUs)
        return true
      }),
    putMaintenance: ({ id, account, spec }, nowUs) =>
      write(function* () {
        const update = 'UPDATE maintenance SET spec = $1 WHERE id = $2 AND account = $3'
        return yield* lookAgain(yield* run(update, JSON.stringify(spec), id, account), account, nowUs)
      }),
    removeMaintenance: (account, id, nowUs) =>
      write(function* () {
        const remove = 'DELETE FROM maintenance WHERE id = $1 AND account = $2'
        return yield* lookAgain(yield* run(remove, id, account), account, nowUs)
      }),
  }
}

function* lookAgain(changes: number, account: string, nowUs: number): Script<boolean> {
  if (changes > 0) yield* run('UPDATE outbox SET next_us = $1 WHERE account = $2 AND held = 1', nowUs, account)
  return changes > 0
}
