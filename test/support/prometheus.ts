// A real Prometheus over given targets and rules, which asks every second. It dies with `close`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { takePort } from './ports.ts'
import { tempDir } from './temp-dir.ts'
import { until } from './until.ts'

type Labels = Readonly<Record<string, string>>

interface Api {
  readonly data: {
    readonly activeTargets?: readonly { readonly lastScrape: string }[]
    readonly groups?: readonly { readonly lastEvaluation: string }[]
  }
}

const NOTHING: Api['data'] = {}

/** `config` as in prometheus.yml, `groups` as in a file of rules. */
export function startPrometheus(config: object, groups: readonly object[]) {
  const dir = tempDir('prometheus')
  const address = `127.0.0.1:${takePort()}`
  const global = { scrape_interval: '1s', evaluation_interval: '1s' }
  writeFileSync(join(dir, 'rules.yml'), JSON.stringify({ groups }))
  writeFileSync(join(dir, 'prometheus.yml'), JSON.stringify({ ...config, global, rule_files: [`${dir}/rules.yml`] }))
  const child = Bun.spawn(
    [
      'prometheus',
      `--config.file=${dir}/prometheus.yml`,
      `--storage.tsdb.path=${dir}/data`,
      `--web.listen-address=${address}`,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )

  /** The series of an instant query. */
  async function ask(query: string): Promise<{ labels: Labels; value: number }[]> {
    const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(query)}`)
    const { data } = (await response.json()) as { data: { result: { metric: Labels; value: [number, string] }[] } }
    return data.result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
  }

  return {
    ask,
    /** The labels of each alert of this rule that fires. */
    async firing(alertname: string): Promise<Labels[]> {
      const found = await ask(`ALERTS{alertname=${JSON.stringify(alertname)},alertstate="firing"}`).catch(() => [])
      return found.map(({ labels: { __name__, alertname, alertstate, severity, ...labels } }) => labels)
    },
    /** Resolves when every target was read and then every rule was judged, from now on. */
    async judged(): Promise<void> {
      const api = async (path: string) => ((await (await fetch(`http://${address}/api/v1/${path}`)).json()) as Api).data
      const isAfter = (times: readonly string[], ms: number) =>
        times.length > 0 && times.every((time) => Date.parse(time) > ms)
      let fromMs = Date.now()
      await until('every target is read', async () =>
        isAfter(
          (await api('targets').catch(() => NOTHING)).activeTargets?.map(({ lastScrape }) => lastScrape) ?? [],
          fromMs,
        ),
      )
      fromMs = Date.now()
      await until('every rule is judged', async () =>
        isAfter((await api('rules')).groups?.map(({ lastEvaluation }) => lastEvaluation) ?? [], fromMs),
      )
    },
    async close(): Promise<void> {
      child.kill()
      await child.exited
    },
  }
}
