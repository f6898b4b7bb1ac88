// Healthchecks' Python client (healthchecks-io), of which only the address is changed.
import { expect, test } from 'bun:test'
import { useApp } from '../../support/app.ts'
import { signInAt } from '../../support/caller.ts'
import { findPeers, missing } from '../../support/needs.ts'

const SCRIPT = `
import asyncio, sys
from healthchecks_io import AsyncClient, Client, CheckTrap
url, uuid = sys.argv[1:]
client = Client(ping_url=url)
print(client.start_ping(uuid=uuid), client.success_ping(uuid=uuid, data="12 files"))
print(client.fail_ping(uuid=uuid, data="no rows"), client.exit_code_ping(3, uuid=uuid))
with CheckTrap(client, uuid=uuid) as trap:
    trap.add_log("in a trap")
try:
    with CheckTrap(client, uuid=uuid):
        raise ValueError("row 3 is bad")
except ValueError:
    pass
async def main():
    async with CheckTrap(AsyncClient(ping_url=url), uuid=uuid):
        pass
asyncio.run(main())
`

const app = await useApp()

test.skipIf(missing('peers') !== undefined)('the client pings, and its traps time a block', async () => {
  const session = await signInAt(app.url)
  const uuid = crypto.randomUUID()
  await session.post('/api/keys', { name: 'moved', scopes: ['ping'], process: 'moved', secret: uuid })
  for (const base of ['/ping/', '/']) {
    const child = Bun.spawn([findPeers()!, '-c', SCRIPT, `${app.url}${base}`, uuid], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const said = await new Response(child.stdout).text()
    expect(await child.exited).toBe(0)
    expect(said).toBe("(True, 'OK') (True, 'OK')\n".repeat(2))
    const marks = (await app.events())
      .filter(({ kind }) => kind === 'start' || kind === 'end')
      .slice(-12)
      .map((event) => `${event.kind}${'failed' in event && event.failed ? ' failed' : ''}`)
    expect(marks).toEqual([
      ...[
        'start',
        'end',
        'start',
        'end failed',
        'start',
        'end failed',
        'start',
        'end',
        'start',
        'end failed',
        'start',
        'end',
      ],
    ])
  }
})
