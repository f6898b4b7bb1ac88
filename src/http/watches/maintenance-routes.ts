// Maintenances over HTTP, for a session or a key with the scope `manage`.
import { checkProcess, stripText } from '../../event/fields.ts'
import type { Watches } from '../../watch/watches.ts'
import * as wire from '../../wire/maintenance.ts'
import type { Mounts } from '../mount.ts'
import { type Rules, readJson } from '../read-json.ts'

const RULES: Rules<wire.CreateMaintenance> = { process: (process) => checkProcess(process)[0]?.detail }

/** Events are stored without certain characters. */
const stripped = <T extends { readonly process?: string }>(body: T): T =>
  body.process === undefined ? body : { ...body, process: stripText(body.process) }

export function mountMaintenance({ on }: Mounts, { maintenance }: Watches): void {
  on(wire.LIST_MAINTENANCE, async ({ account }) => ({ maintenance: await maintenance.list(account) }))
  on(wire.CREATE_MAINTENANCE, async (_, { request, again }) => {
    const body = stripped(await readJson(request, wire.CreateMaintenance, RULES))
    const { account } = await again()
    return { maintenance: await maintenance.create(account, body) }
  })
  on(wire.SHOW_MAINTENANCE, async ({ account }, { params }) => ({
    maintenance: await maintenance.show(account, params.id),
  }))
  on(wire.CHANGE_MAINTENANCE, async (_, { request, params, again }) => {
    const body = stripped(await readJson(request, wire.ChangeMaintenance, RULES))
    const { account } = await again()
    return { maintenance: await maintenance.change(account, params.id, body) }
  })
  on(wire.DELETE_MAINTENANCE, ({ account }, { params }) => maintenance.remove(account, params.id))
}
