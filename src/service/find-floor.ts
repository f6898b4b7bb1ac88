// Below which time this NODE_ID may have given stamps.
import type { Clock } from '../clock.ts'
import type { Both } from '../event/event.ts'
import type { Spool } from '../spool/spool.ts'

/** A floor that leads the wall clock by more stays behind with its NODE_ID. */
const MAX_LEAD_US = 60_000_000

/** Below it this NODE_ID may have given stamps. What a new one finds are those of another, which it cannot repeat. */
export async function findFloor(spools: Both<Spool>, isNewNode: boolean, clock: Clock): Promise<number> {
  const all = Object.values(spools)
  const floorUs = Math.max(...all.map((spool) => spool.floorUs))
  if (!isNewNode || floorUs - clock.wallUs() <= MAX_LEAD_US) return floorUs
  for (const spool of all) await spool.forgetFloor()
  return 0
}
