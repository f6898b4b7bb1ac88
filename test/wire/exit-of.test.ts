// How a command ended, read from the exceptions of its run.
import { expect, test } from 'bun:test'
import { exitOf } from '../../src/wire/exit-of.ts'

const exit = (...texts: string[]) => exitOf(texts.map((exception) => ({ exception })))
const [code, signal] = [(code: number) => ({ code, signal: null }), (signal: string) => ({ code: null, signal })]

test('a code and a signal are read from the first line', () => {
  expect(exit('job.sh: exited with code 3\ndisk full')).toEqual(code(3))
  expect(exit('job.sh: was ended by SIGKILL')).toEqual(signal('SIGKILL'))
  expect(exit('job.sh: was ended by signal 40\n')).toEqual(signal('signal 40'))
  expect(exit('job.sh: timed out after 2.5 s and was ended by SIGTERM')).toEqual(signal('SIGTERM'))
})

test('the first exception that says it counts', () => {
  expect(exit('Error: no', 'job.sh: exited with code 1', 'job.sh: exited with code 2')).toEqual(code(1))
})

test('other texts say nothing', () => {
  for (const text of ['', 'Error: it exited with code 3 today', 'no\njob: exited with code 3', 'job: failed'])
    expect([text, exit(text)]).toEqual([text, null])
  expect(exit()).toBeNull()
})
