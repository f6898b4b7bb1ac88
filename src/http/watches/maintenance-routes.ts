// Maintenances over HTTP, for a session or a key with the scope `manage`.
import { checkProcess, stripText } from '../../event/fields.ts'
import type { Watches } from '../../watch/watches.ts'
import * as wire from '../../wire/maintenance.ts'
import type { Mounts } from '../mount.ts'

const RULES = { process: (process: string) => checkProcess(process)[0]?.detail }

/** Events are stored without certain characters. */
const stripped = <T extends { readonly process?: string }>(body: T): T =>
  body.process === undefined ? body : { ...body, process: stripText(body.process) }

export function mountMaintenance({ on }: Mounts, { maintenance }: Watches): void {
  on(wire.LIST_MAINTENANCE, async ({ account }) => ({ maintenance: await maintenance.list(account) }))
  on(wire.CREATE_MAINTENANCE, RULES, async ({ account }, { body }) => ({
    maintenance: await maintenance.create(account, stripped(body)),
  }))
  on(wire.SHOW_MAINTENANCE, async ({ account }, { params }) => ({
    maintenance: await maintenance.show(account, params.id),
  }))
  on(wire.CHANGE_MAINTENANCE, RULES, async ({ account }, { params, body }) => ({
    maintenance: await maintenance.change(account, params.id, stripped(body)),
  }))
  on(wire.DELETE_MAINTENANCE, ({ account }, { params }) => maintenance.remove(account, params.id))
}
