// Nodes on one PostgreSQL that end with the file that opened them.
import { afterAll } from 'bun:test'
import type { OpenSharedAccountsOptions } from '../../../src/account/shared/open-shared-accounts.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { openShared } from '../accounts-cast.ts'

export const freshUrl = async () => (await sharedPostgres()).createDatabase()

export function useNodes() {
  const closes: (() => Promise<void>)[] = []
  afterAll(() => Promise.all(closes.map((close) => close())))

  async function openNode(url: string, options: Partial<OpenSharedAccountsOptions> = {}) {
    const accounts = await openShared(url, options)
    let isClosed = false
    const close = async () => {
      if (!isClosed) await accounts.close()
      isClosed = true
    }
    closes.push(close)
    return { ...accounts, close }
  }
  return { openNode, atEnd: (close: () => Promise<void>) => void closes.push(close) }
}
