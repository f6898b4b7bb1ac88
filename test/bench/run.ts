// `bun run bench [NAME] [flags]`, NAME as in the list below: each is a file and a process of its own; without a name
// the one that is quick. What it prints says on which machine, when and under what load.
import { join } from 'node:path'

const BENCHMARKS = ['intake', 'growth', 'neighbours', 'watch-cost']
const QUICK = 'intake'

const [given, ...rest] = process.argv.slice(2)
const isNamed = given !== undefined && !given.startsWith('-')
if (isNamed && !BENCHMARKS.includes(given)) {
  console.error(`there is no benchmark ${given}; there are ${BENCHMARKS.join(', ')}`)
  process.exit(1)
}
if (given === '--help') {
  console.log(`bun run bench [NAME] [flags]; NAME is one of ${BENCHMARKS.join(', ')}. Flags: see the head of its file.`)
  process.exit(0)
}
const flags = isNamed ? rest : process.argv.slice(2)
const child = Bun.spawn([process.execPath, join(import.meta.dir, `${isNamed ? given : QUICK}.ts`), ...flags], {
  stdin: 'inherit',
  stdout: 'inherit',
  stderr: 'inherit',
})
process.exit(await child.exited)
