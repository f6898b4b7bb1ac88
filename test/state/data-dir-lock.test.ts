import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkNodeId, lockDataDir, noteNodeId, readDataDirId } from '../../src/state/data-dir-lock.ts'
import { tempDir } from '../support/temp-dir.ts'

const freshDir = () => tempDir('lock')

const MODULE = join(import.meta.dir, '../../src/state/data-dir-lock.ts')

/** Another process that takes the lock, says so, and holds it until its stdin ends. */
async function holdElsewhere(dir: string) {
  const script = `
    import { checkNodeId, lockDataDir } from ${JSON.stringify(MODULE)}
    try { lockDataDir(${JSON.stringify(dir)}); console.log('locked') } catch (error) { console.log(error.message) }
    await Bun.stdin.text()`
  const child = Bun.spawn(['bun', '-e', script], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  const reader = child.stdout.getReader()
  const answer = new TextDecoder().decode((await reader.read()).value).trim()
  return { child, answer }
}

test('refuses a second process with the pid of the holder until the first is killed', async () => {
  const dir = freshDir()
  const first = await holdElsewhere(dir)
  expect(first.answer).toBe('locked')
  expect(() => lockDataDir(dir)).toThrow(`(pid ${first.child.pid})`)
  expect(() => lockDataDir(dir)).toThrow(dir)
  first.child.kill('SIGKILL')
  await first.child.exited
  const lock = lockDataDir(dir)
  expect(readFileSync(join(dir, 'lock.pid'), 'utf8')).toBe(`${process.pid}\n`)
  const second = await holdElsewhere(dir)
  expect(second.answer).toContain(`(pid ${process.pid})`)
  lock.release()
  second.child.stdin.end()
  await second.child.exited
})

test('the same process cannot lock it twice, but can after a release', () => {
  const dir = freshDir()
  const lock = lockDataDir(dir)
  expect(() => lockDataDir(dir)).toThrow('in use by another Stint')
  lock.release()
  lockDataDir(dir).release()
})

test('writes the data version once, and refuses a newer one without holding the lock', () => {
  const dir = freshDir()
  lockDataDir(dir).release()
  expect(readFileSync(join(dir, 'version'), 'utf8')).toBe('1\n')
  writeFileSync(join(dir, 'version'), '2\n')
  expect(() => lockDataDir(dir)).toThrow('newer Stint (data version 2')
  writeFileSync(join(dir, 'version'), '1\n')
  lockDataDir(dir).release()
})

test.each(['', 'one', '\u0000\u0000'])('refuses a version file that holds %j by name', (text) => {
  const dir = freshDir()
  writeFileSync(join(dir, 'version'), text)
  expect(() => lockDataDir(dir)).toThrow(join(dir, 'version'))
})

test('reports a directory that is missing or a file', () => {
  const dir = freshDir()
  expect(() => lockDataDir(join(dir, 'missing'))).toThrow('cannot be written')
  writeFileSync(join(dir, 'file'), '')
  expect(() => lockDataDir(join(dir, 'file'))).toThrow('cannot be written')
})

test('refuses a directory that is not writable, also for root', () => {
  expect(() => lockDataDir('/proc')).toThrow('DATA_DIR /proc cannot be written')
})

test('refuses garbage in place of the lock by name', () => {
  const dir = freshDir()
  writeFileSync(join(dir, 'lock'), 'garbage '.repeat(1000))
  expect(() => lockDataDir(dir)).toThrow(join(dir, 'lock'))
})

test('refuses another NODE_ID for a DATA_DIR and reports what to do', () => {
  const dir = tempDir('node')
  expect(checkNodeId(dir, 3)).toBe(true)
  noteNodeId(dir, 3)
  expect(checkNodeId(dir, 3)).toBe(false)
  expect(readFileSync(join(dir, 'node-id'), 'utf8')).toBe('3\n')
  expect(() => checkNodeId(dir, 4)).toThrow(/belongs to NODE_ID 3, but NODE_ID is 4: set NODE_ID=3/)
  rmSync(join(dir, 'node-id'))
  expect(checkNodeId(dir, 4)).toBe(true)
  rmSync(dir, { recursive: true })
})

test.each(['lock', 'lock.pid', 'version', 'node-id', 'id'])('a directory in the place of %s is named', (name) => {
  const dir = freshDir()
  mkdirSync(join(dir, name))
  const open = () => {
    const lock = lockDataDir(dir)
    try {
      checkNodeId(dir, 0)
      readDataDirId(dir)
    } finally {
      lock.release()
    }
  }
  expect(open).toThrow(join(dir, name))
})

test('a DATA_DIR has an id of its own, which it keeps', () => {
  const dir = freshDir()
  const id = readDataDirId(dir)
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  expect(readDataDirId(dir)).toBe(id)
  rmSync(join(dir, 'id'))
  expect(readDataDirId(dir)).not.toBe(id)
})
