// The blocks of the page Recipes that need a shell alone run as they stand there; those for other people's machines are
// read. Those with a runtime of their own: recipes.slow.ts.
import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { useApp } from './support/app.ts'
import { ROOT } from './support/readme.ts'
import { RECIPES, recipeOf } from './support/recipes.ts'
import { tempDir } from './support/temp-dir.ts'

const app = await useApp()
const dir = tempDir('recipes')
let token = ''
const fill = () => ({ url: app.url, key: app.keys.writer, token })
const program = async (name: string, text: string) => {
  await Bun.write(join(dir, name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(dir, name), 0o755)
}
beforeAll(async () => {
  token = (await app.rooms.accounts.keys.create(app.account, 'ping', ['ping'])).secret
  await program('stint', `exec sh '${join(ROOT, 'src/client/sh/stint.sh')}' "$@"`)
  await program('docker', 'echo "docker: $*"')
  await program('import.sh', 'echo "no rows" >&2; exit 3')
  mkdirSync(join(dir, '.config'))
})

async function run(line: string): Promise<number> {
  const env = { HOME: dir, PATH: `${dir}:${process.env.PATH}` }
  return Bun.spawn(['sh', '-c', line], { cwd: dir, env, stdout: 'ignore', stderr: 'ignore' }).exited
}
/** An event that is sent again is the same one. */
const storedOf = async (process: string) => {
  const events = (await app.events()).filter((event) => event.process === process)
  const found = new Map(events.map((event) => [JSON.stringify(event), event]))
  return [...found.values()].map((event) => `${event.kind}${'failed' in event && event.failed ? ' failed' : ''}`).sort()
}
const toLine = (crontab: string) =>
  crontab.trim().split('\n').at(-1)!.replace('0 3 * * * ', '').replaceAll('/opt/', `${dir}/`)

test('cron: a job that fails is a failed run with its last lines', async () => {
  const block = recipeOf('cron', fill())
  const [settings] = /echo '(\{.*\})'/.exec(block)!.slice(1)
  await Bun.write(join(dir, '.config/stint.json'), settings!)
  expect(await run(toLine(block).replace('/usr/local/bin/stint', 'stint'))).toBe(3)
  expect(await storedOf('nightly import')).toEqual(['end failed', 'exception', 'start'])
})

test('cron with curl alone: start, then the exit code', async () => {
  expect(await run(toLine(recipeOf('A line without a client', fill())))).toBe(0)
  expect(await storedOf('nightly-import')).toEqual(['end failed', 'exception', 'start'])
})

test('Docker: the command in the container is timed from outside', async () => {
  expect(await run(recipeOf('Docker and compose jobs', fill()).replace('nightly import', 'in docker'))).toBe(0)
  expect(await storedOf('in docker')).toEqual(['end', 'output', 'start'])
})

test.each(['Kubernetes', 'GitHub Actions', 'GitLab CI'])('the YAML for %s is read', (heading) => {
  expect(Object.keys(Bun.YAML.parse(recipeOf(heading, fill())) as object).length).toBeGreaterThan(0)
})

test('GitLab’s scripts: the run ends as the job’s status says', async () => {
  const { import: job } = Bun.YAML.parse(recipeOf('GitLab CI', fill())) as {
    import: { before_script: string[]; after_script: string[]; variables: { PING: string } }
  }
  const ping = job.variables.PING.replace('$STINT_TOKEN', token).replace('nightly-import', 'in-gitlab')
  for (const [id, status] of [
    ['1', 'success'],
    ['2', 'canceled'],
  ])
    expect(
      await run(
        [`PING=${ping} CI_JOB_ID=${id} CI_JOB_STATUS=${status}`, ...job.before_script, ...job.after_script].join('\n'),
      ),
    ).toBe(0)
  expect(await storedOf('in-gitlab')).toEqual(['end', 'end failed', 'exception', 'start', 'start'])
})

test('each recipe says whether the tests run it', () => {
  const sections = RECIPES.split(/^## /m).slice(1)
  expect(sections.length).toBeGreaterThan(15)
  for (const section of sections) expect(section.replaceAll(/\s+/g, ' ')).toMatch(/by the tests/)
})
