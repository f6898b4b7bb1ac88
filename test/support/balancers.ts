// The real HAProxy and the real nginx in front of nodes, configured by the blocks of the page "Behind a balancer". They end with `close`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takePort } from './ports.ts'
import { readRepo } from './readme.ts'
import { tempDir } from './temp-dir.ts'
import { until } from './until.ts'

export type Balancer = Awaited<ReturnType<typeof startBalancer>>

type Node = { readonly url: string }

/** The page's only block of the language, for these nodes and this port. */
function configOf(language: string, nodes: readonly [Node, Node], port: number): string {
  const [, block] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(readRepo('src/deploy/balancer.md'))!
  return block!
    .replace('10.0.0.10:7070', new URL(nodes[0].url).host)
    .replace('10.0.0.11:7070', new URL(nodes[1].url).host)
    .replace('8080', String(port))
}

const COMMANDS = {
  haproxy(dir: string, config: string) {
    writeFileSync(join(dir, 'haproxy.cfg'), config)
    return ['haproxy', '-db', '-f', join(dir, 'haproxy.cfg')]
  },
  nginx(dir: string, config: string) {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((n) => `${n}_temp_path ${dir}/${n};`)
    const around = `daemon off; pid ${dir}/pid; error_log ${dir}/error; events {}`
    writeFileSync(join(dir, 'nginx.conf'), `${around} http { access_log off; ${temporary.join(' ')} ${config} }`)
    return ['nginx', '-e', join(dir, 'error'), '-c', join(dir, 'nginx.conf')]
  },
}

/** Resolves when it forwards. */
export async function startBalancer(kind: keyof typeof COMMANDS, nodes: readonly [Node, Node]) {
  const port = takePort()
  const child = Bun.spawn(COMMANDS[kind](tempDir(kind), configOf(kind, nodes, port)), {
    ...{ stdout: 'ignore', stderr: 'ignore' },
  })
  const url = `http://127.0.0.1:${port}`
  await until(`${kind} forwards`, async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true)
  return {
    url,
    async close(): Promise<void> {
      child.kill()
      await child.exited
    },
  }
}
