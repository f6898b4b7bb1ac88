// Lists the nodes of one PostgreSQL for an operator, and removes those that will not return.
import type { SqlDatabase } from '../../state/database.ts'
import { forgetNode, listNodes, SILENT_AFTER_US } from './node-table.ts'

export interface ListedNode {
  readonly node: number
  /** Since its last heartbeat. */
  readonly ageUs: number
  readonly isSilent: boolean
}

export function createManageNodes(database: SqlDatabase) {
  const list = async (): Promise<ListedNode[]> =>
    (await database.read(listNodes)).map(({ node, ageUs }) => ({ node, ageUs, isSilent: ageUs > SILENT_AFTER_US }))
  return {
    list,
    /** Only a silent node is forgotten: another one would be back with its next heartbeat. */
    async forget(node: number): Promise<'done' | 'alive' | 'unknown'> {
      const known = (await list()).find((it) => it.node === node)
      if (known === undefined) return 'unknown'
      if (!known.isSilent) return 'alive'
      await database.write(() => forgetNode(node))
      return 'done'
    },
  }
}
