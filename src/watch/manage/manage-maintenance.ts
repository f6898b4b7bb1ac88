// Manages an account's maintenances: plan, change, show, delete.

import { heldUntilUs, maintenanceUntilUs, type StoredMaintenance } from '../../notify/maintenance.ts'
import { type Fault, Problem } from '../../problem.ts'
import { nextDueOf } from '../../process/cron.ts'
import type { ChangeMaintenance, CreateMaintenance, Maintenance } from '../../wire/maintenance.ts'
import { cronFaults } from '../conditions/cron-faults.ts'
import { spanFaults } from '../conditions/span-faults.ts'
import { iso } from '../conditions/wording.ts'
import { createId } from '../random-id.ts'
import type { WatchStore } from '../storage/create-watch-store.ts'

const MAINTENANCES_MAX = 100

/** Methods reject with Problem `not_found`, `fields_invalid`, `limit_reached`. */
export function createManageMaintenance({ store, nowUs }: { readonly store: WatchStore; nowUs(): number }) {
  async function find(account: string, id: string): Promise<StoredMaintenance> {
    const found = (await store.maintenances(account)).find((it) => it.id === id)
    return found ?? missing()
  }

  const answer = ({ id, spec, createdUs }: StoredMaintenance): Maintenance => {
    const untilUs = maintenanceUntilUs(spec, nowUs())
    return {
      id,
      process: spec.process,
      from: spec.from,
      to: spec.to,
      repeat: spec.repeat,
      active: untilUs !== undefined,
      until: untilUs === undefined || !Number.isFinite(untilUs) ? null : iso(untilUs),
      next_due: nextDueOf(spec.repeat, nowUs()),
      created_at: iso(createdUs),
    }
  }

  return {
    /** Until when what fires at `us` about a process is held back; undefined: it is not. */
    async held(account: string) {
      const specs = (await store.maintenances(account)).map(({ spec }) => spec)
      return (process: string, us: number): number | undefined => heldUntilUs(specs, process, us)
    },
    list: async (account: string): Promise<Maintenance[]> => (await store.maintenances(account)).map(answer),
    show: async (account: string, id: string) => answer(await find(account, id)),
    async create(account: string, body: CreateMaintenance): Promise<Maintenance> {
      const begins = body.repeat == null ? { from: body.from ?? iso(nowUs()) } : {}
      const spec = toSpec({ ...body, ...begins })
      const maintenance = { id: createId('mnt'), account, spec, createdUs: nowUs() }
      if (!(await store.addMaintenance(maintenance, MAINTENANCES_MAX)))
        throw new Problem('limit_reached', `An account has at most ${MAINTENANCES_MAX} maintenances. Delete one first.`)
      return answer(maintenance)
    },
    async change(account: string, id: string, body: ChangeMaintenance): Promise<Maintenance> {
      const known = await find(account, id)
      const changed = { ...known, spec: toSpec({ ...known.spec, ...body }) }
      return (await store.putMaintenance(changed, nowUs())) ? answer(changed) : missing()
    },
    async remove(account: string, id: string): Promise<{ readonly process: string }> {
      const { spec } = await find(account, id)
      return (await store.removeMaintenance(account, id, nowUs())) ? spec : missing()
    },
  }
}

function missing(): never {
  throw new Problem('not_found', 'The account has no maintenance with this id.')
}

/** Throws Problem `fields_invalid`. */
function toSpec({ process, from = null, to = null, repeat = null }: CreateMaintenance) {
  const errors: Fault[] = []
  const instant = (pointer: string, text: string | null) => {
    const date = new Date(text ?? 0)
    if (Number.isNaN(date.getTime())) errors.push({ pointer, detail: 'must be an RFC 3339 time' })
    return text === null || Number.isNaN(date.getTime()) ? null : date.toISOString()
  }
  const spec = { process, from: instant('/from', from), to: instant('/to', to), repeat }
  if (repeat !== null) {
    errors.push(...cronFaults('/repeat', repeat.cron, repeat.tz ?? 'UTC'))
    errors.push(...spanFaults('/repeat/length', repeat.length))
  } else {
    if (from === null) errors.push({ pointer: '/from', detail: 'is required unless it repeats' })
    if (to === null) errors.push({ pointer: '/to', detail: 'is required unless it repeats' })
  }
  if (errors.length === 0 && spec.from !== null && spec.to !== null && spec.to <= spec.from)
    errors.push({ pointer: '/to', detail: 'must be after from' })
  if (errors.length > 0) throw new Problem('fields_invalid', 'The maintenance cannot be saved.', { errors })
  return spec
}
