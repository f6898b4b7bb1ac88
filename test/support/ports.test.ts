import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { takePort } from './ports.ts'

test('each port is given out once, also over the end of a block and to other processes', async () => {
  const code = `import { takePort } from '${join(import.meta.dir, 'ports.ts')}'
console.log(JSON.stringify(Array.from({ length: 150 }, takePort)))
await Bun.stdin.text()`
  const others = [1, 2].map(() =>
    Bun.spawn([process.execPath, '-e', code], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' }),
  )
  const own = Array.from({ length: 150 }, takePort)
  const taken = await Promise.all(
    others.map(async ({ stdin, stdout }) => {
      const { value } = await stdout.getReader().read() // while both hold their blocks
      return { stdin, ports: JSON.parse(Buffer.from(value!).toString()) as number[] }
    }),
  )
  for (const { stdin } of taken) stdin.end()
  const all = [own, ...taken.map(({ ports }) => ports)].flat()
  expect(new Set(all).size).toBe(450)
})

test('a port on which something listens is passed over', () => {
  let port = takePort()
  while (port % 100 === 99) port = takePort() // the next one may be the first of another process
  using _ = Bun.listen({ hostname: '127.0.0.1', port: port + 1, socket: { data() {} } })
  expect(takePort()).toBeGreaterThan(port + 1)
})
