// Answers as the engine writes them: test/store/clickhouse/client.test.ts.
import { expect, test } from 'bun:test'
import { parseRows } from '../../../src/store/clickhouse/parse-rows.ts'
import { countTurns } from '../../support/count-turns.ts'

const written = (rows: readonly (readonly unknown[])[]) =>
  '{\n\t"meta":\n\t[\n\t\t{\n\t\t\t"name": "a",\n\t\t\t"type": "String"\n\t\t}\n\t],\n\n\t"data":\n\t[\n' +
  `${rows.map((row) => `\t\t${JSON.stringify(row)}`).join(',\n')}\n\t],\n\n\t"rows": ${rows.length},\n\n\t"statistics":\n\t{}\n}\n`

const TEXTS = [['x'], ['"],\n\t],\n\n\t"rows": 7'], ['"data":\n\t[\n'], [null], [[1, 2]]]

test.each([0, 1, TEXTS.length])('%p rows are read as they were written', async (n) => {
  expect(await parseRows(written(TEXTS.slice(0, n)))).toEqual({ names: ['a'], rows: TEXTS.slice(0, n) })
})

test('an answer that is cut anywhere, or has a part of another one in front, throws', async () => {
  const whole = written(TEXTS)
  for (let length = 0; length < whole.length - 1; length++) {
    await expect(parseRows(whole.slice(0, length))).rejects.toThrow()
    if (length > 0) await expect(parseRows(whole.slice(-length - 1) + whole)).rejects.toThrow()
  }
})

test('many rows are read in turns of the event loop', async () => {
  const rows = Array.from({ length: 50_000 }, (_, i) => [`row ${i}`])
  const { result, turns } = await countTurns(() => parseRows(written(rows)))
  expect(result.rows).toEqual(rows)
  expect(turns).toBeGreaterThan(20)
})
