// Completions come from the commands themselves, and bash takes them.
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const MAIN = join(import.meta.dir, '../../src/cli/main.ts')
async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect(errors).toBe('')
  return output
}
const scriptFor = (shell: string) => run([process.execPath, MAIN, 'completion', shell])

test('bash completes commands, their commands, and options', async () => {
  const script = await scriptFor('bash')
  const complete = async (...words: string[]) => {
    const line = ['stint', ...words].map((word) => `'${word}'`).join(' ')
    const asked = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _stint; echo "\${COMPREPLY[@]}"`
    return (await run(['bash', '-c', asked])).trim().split(' ')
  }
  expect(await complete('ru')).toEqual(['running'])
  expect(await complete('watch', 'pa')).toEqual(['pause'])
  expect(await complete('timings', '--limit', '5', '--st')).toEqual(['--state'])
  expect(await complete('exec', '--', 'ru')).toEqual([''])
})

test.each(['zsh', 'fish'])('%s gets every command', async (shell) => {
  const script = await scriptFor(shell)
  for (const word of ['exec', 'running', 'watch list', 'completion']) expect(script).toContain(word)
  if (Bun.which(shell) !== null) await run([shell, '-n', '-c', script])
})

test('an unknown shell is a usage error', async () => {
  const child = Bun.spawn([process.execPath, MAIN, 'completion', 'tcsh'], { stdout: 'ignore', stderr: 'pipe' })
  expect(await new Response(child.stderr).text()).toBe('stint: no completions for tcsh: use bash, zsh or fish\n')
  expect(await child.exited).toBe(2)
})
