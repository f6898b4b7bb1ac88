import { expect, test } from 'bun:test'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createPasswords } from '../../src/account/passwords.ts'
import { tempDir } from '../support/temp-dir.ts'

/** For what does not depend on how long a hash takes. */
const CHEAP = { memoryCost: 8, timeCost: 1 }

test('hashes with argon2id at the documented cost, with a random salt', async () => {
  const passwords = createPasswords()
  const [one, other] = await Promise.all([passwords.hash('the same'), passwords.hash('the same')])
  expect(one).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
  expect(one).not.toBe(other)
  expect(await passwords.verify('the same', one)).toBe(true)
  expect(await passwords.verify('the same ', one)).toBe(false)
  expect(await passwords.verify('the same\0', one)).toBe(false)
})

test('verifying takes as long for an unknown account as for a known one', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('a password')
  const fastestMs = async (known: string | undefined) => {
    let fastest = Number.POSITIVE_INFINITY
    for (let i = 0; i < 5; i++) {
      const start = Bun.nanoseconds()
      expect(await passwords.verify('another', known)).toBe(false)
      fastest = Math.min(fastest, (Bun.nanoseconds() - start) / 1e6)
    }
    return fastest
  }
  const ratio = (await fastestMs(undefined)) / (await fastestMs(hash))
  expect(ratio).toBeGreaterThan(0.3)
  expect(ratio).toBeLessThan(3)
})

test('hashing does not block disk writes in the thread pool', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('a password')
  let isDone = false
  const hashing = Promise.all(Array.from({ length: 16 }, () => passwords.verify('a password', hash))).then(() => {
    isDone = true
  })
  const file = await open(join(tempDir('passwords'), 'file'), 'w')
  let syncs = 0
  for (; !isDone; syncs++) {
    await file.write('x')
    await file.datasync()
  }
  await hashing
  await file.close()
  passwords.close()
  expect(syncs).toBeGreaterThan(32) // on the shared pool two per hash at most
})

test('a failed hash frees its slot', async () => {
  const passwords = createPasswords(CHEAP)
  for (let i = 0; i < 3; i++) {
    expect(await passwords.verify('x', 'no hash at all').catch(() => 'failed')).toBe('failed')
  }
  expect(await passwords.hash('still here')).toStartWith('$argon2id$')
})
