// `stint completion SHELL`: prints a completion script, made from the commands and options as they are registered.
import { CliError, EXIT_USAGE, type Io } from './io.ts'
import { type CommandEntry, listCommands, type Program } from './program.ts'

const bashCase = (entry: CommandEntry): string =>
  `    '${entry.path}') COMPREPLY=($(compgen -W '${wordsOf(entry).join(' ')}' -- "\${COMP_WORDS[COMP_CWORD]}"));;`

/** Each gets every command with the words that may follow it, the program itself first (its path is empty). */
const SCRIPTS: Readonly<Record<string, (commands: readonly CommandEntry[]) => string>> = {
  bash: (commands) => `_stint() {
  local at='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -- ]] && return
${step(commands)}
  done
  case "$at" in
${commands.map(bashCase).join('\n')}
  esac
}
complete -o default -F _stint stint
`,
  zsh: (commands) => `#compdef stint
_stint() {
  local at='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -- ]] && { _files; return }
${step(commands)}
  done
  case "$at" in
${commands.map((entry) => `    '${entry.path}') compadd -- ${wordsOf(entry).join(' ')};;`).join('\n')}
  esac
}
compdef _stint stint
`,
  fish: (commands) => `function __stint_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
${pathsOf(commands)
  .map((path) => `      case '${before(path)}'; set at '${path}'`)
  .join('\n')}
    end
  end
  test "$at" = "$argv[1]"
end
${commands.flatMap((entry) => fishLines(entry)).join('\n')}
`,
}

const wordsOf = ({ commands, options }: CommandEntry): string[] => [...commands.map(({ name }) => name), ...options]
const pathsOf = (commands: readonly CommandEntry[]): string[] =>
  commands.map(({ path }) => path).filter((path) => path !== '')
/** The words so far and the next one when a command is entered: ` watch`, `watch list`. */
const before = (path: string): string => (path.includes(' ') ? path : ` ${path}`)

const step = (commands: readonly CommandEntry[]): string =>
  [
    '    case "$at $word" in',
    ...pathsOf(commands).map((path) => `      '${before(path)}') at='${path}';;`),
    '    esac',
  ].join('\n')

const fishLines = ({ path, commands, options }: CommandEntry): string[] => [
  ...commands.map(
    ({ name, about }) => `complete -c stint -f -n "__stint_at '${path}'" -a ${name} -d '${about.replaceAll("'", '’')}'`,
  ),
  ...options.map((option) => `complete -c stint -n "__stint_at '${path}'" -l ${option.replace(/^--/, '')}`),
]

export function register(program: Program, io: Io): void {
  program
    .command('completion <shell>')
    .description('print completions for bash, zsh or fish')
    .action((shell: string) => {
      const write = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
      if (write === undefined) throw new CliError(`no completions for ${shell}: use bash, zsh or fish`, EXIT_USAGE)
      io.stdout.write(write(listCommands(program)))
    })
}
