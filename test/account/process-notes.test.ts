// Notes of processes: on SQLite and on a real PostgreSQL.
import { afterAll, describe, expect, test } from 'bun:test'
import { ADA, codeOf, databases, openFresh } from './accounts-cast.ts'

const NONE = { note: null, note_by: null, note_at: null }

for (const { database, open } of databases()) {
  const accounts = await open()
  const { clock, notes } = accounts
  let n = 0
  const signUp = async () => {
    const credentials = { email: `note${n++}@example.com`, password: 'correct horse battery', address: '192.0.2.1' }
    return (await accounts.create(credentials)).account.id
  }

  describe(`notes of processes in ${database}`, () => {
    afterAll(() => accounts.close())

    test('a process has the newest note, an empty one deletes it, and other accounts see none', async () => {
      const [account, other] = [await signUp(), await signUp()]
      expect(await notes.find(account, 'nightly')).toEqual(NONE)
      await notes.put(account, { process: 'nightly', note: 'first' }, 'ada@example.com')
      const text = 'free /var 😀\n\tthen "start" it again\\'
      const written = await notes.put(account, { process: 'nightly', note: text }, 'key ci')
      expect(written).toEqual({ note: text, note_by: 'key ci', note_at: new Date(clock.wallUs() / 1000).toISOString() })
      expect(await notes.find(account, 'nightly')).toEqual(written)
      expect(await notes.find(account, 'nightl')).toEqual(NONE)
      expect(await notes.find(other, 'nightly')).toEqual(NONE)
      expect(await notes.put(other, { process: 'nightly', note: '' }, 'eve@example.com')).toEqual(NONE)
      expect((await notes.find(account, 'nightly')).note).toBe(text)
      expect(await notes.put(account, { process: 'nightly', note: '' }, 'ada@example.com')).toEqual(NONE)
      expect(await notes.find(account, 'nightly')).toEqual(NONE)
    })

    test('a note that names what it replaces overwrites nothing else, and all are listed', async () => {
      const account = await signUp()
      const put = (note: string, replaces: string | null) =>
        notes.put(account, { process: 'nightly', note, replaces }, 'ada@example.com')
      const first = await put('one', null)
      expect(await codeOf(() => put('two', null))).toBe('note_changed')
      clock.passS(1)
      const second = await put('two', first.note_at)
      for (const note of ['three', '']) expect(await codeOf(() => put(note, first.note_at))).toBe('note_changed')
      await notes.put(account, { process: 'daily', note: 'x' }, 'key ci')
      expect((await notes.list(account)).map(({ process, note, note_by }) => [process, note, note_by])).toEqual([
        ['daily', 'x', 'key ci'],
        ['nightly', 'two', 'ada@example.com'],
      ])
      expect(await put('', second.note_at)).toEqual(NONE)
      expect(await codeOf(() => put('four', second.note_at))).toBe('note_changed')
      expect(await notes.list(await signUp())).toEqual([])
    })

    test('a deleted account takes its notes along and gets no new one', async () => {
      const account = await signUp()
      await notes.put(account, { process: 'nightly', note: 'one' }, 'ada@example.com')
      await accounts.delete(account)
      expect(await notes.find(account, 'nightly')).toEqual(NONE)
      expect(await codeOf(() => notes.put(account, { process: 'nightly', note: 'two' }, 'ada@example.com'))).toBe(
        'not_found',
      )
    })
  })
}

test('an account has at most 1,000 of them; those it has can be changed', async () => {
  await using accounts = openFresh()
  const { notes } = accounts
  const { id } = (await accounts.create(ADA)).account
  for (let i = 0; i < 1_000; i++) await notes.put(id, { process: `p${i}`, note: 'x' }, 'ada@example.com')
  expect(await codeOf(() => notes.put(id, { process: 'more', note: 'x' }, 'ada@example.com'))).toBe('limit_reached')
  expect((await notes.put(id, { process: 'p7', note: 'y' }, 'ada@example.com')).note).toBe('y')
})
