// docker-compose.yml as Docker Compose itself reads it: its own library checks it against the schema, fills in .env and merges the files for other stores.
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { missing } from '../support/needs.ts'
import { ROOT, readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'

const LIBRARY = 'github.com/compose-spec/compose-go/v2'
const PROGRAM = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"${LIBRARY}/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithEnvFiles(), cli.WithDotEnv, cli.WithDefaultProfiles())
	if err != nil {
		panic(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
	resolved, _ := json.Marshal(project)
	fmt.Println(string(resolved))
}
`
const ALWAYS = ['grafana', 'make-secrets', 'prometheus', 'stint']
const INFLUXDB = ['grant-tokens', 'influxdb']
const CLUSTER = ['clickhouse-1-1', 'clickhouse-1-2', 'clickhouse-2-1', 'clickhouse-2-2', 'clickhouse-keeper']

interface Project {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly build?: { readonly target?: string }
        readonly environment?: Readonly<Record<string, string | null>>
        readonly volumes?: readonly { readonly source: string; readonly target: string }[]
      }
    >
  >
}

describe.skipIf(missing('go') !== undefined)('docker-compose.yml', () => {
  const dir = tempDir('compose-go')
  const clone = join(dir, 'clone')
  const load = (overlays: readonly string[] = [], text = readRepo('docker-compose.yml')): string => {
    writeFileSync(join(clone, 'docker-compose.yml'), text)
    const files = ['docker-compose.yml', ...overlays.map((name) => `src/deploy/compose.${name}.yml`)]
    const { stdout, stderr } = Bun.spawnSync([join(dir, 'compose'), ...files], { cwd: clone })
    return `${stdout}${stderr}`
  }
  const resolve = (overlays?: readonly string[]) => JSON.parse(load(overlays)) as Project
  /** Of a service's environment what the container gets: a name that .env does not have is left out. */
  const given = (project: Project, name: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(project.services[name]!.environment ?? {}).flatMap(([key, value]) =>
        value === null ? [] : [[key, value]],
      ),
    )
  beforeAll(() => {
    writeFileSync(join(dir, 'go.mod'), `module compose\n\ngo 1.23\n\nrequire ${LIBRARY} v2.4.7\n`)
    writeFileSync(join(dir, 'main.go'), PROGRAM)
    const env = { ...process.env, GOFLAGS: '-mod=mod' }
    const built = Bun.spawnSync(['go', 'build', '-o', 'compose', '.'], { cwd: dir, env })
    expect([built.exitCode, built.stderr.toString()]).toEqual([0, expect.any(String)])
    mkdirSync(clone)
    cpSync(join(ROOT, 'src/deploy'), join(clone, 'src/deploy'), { recursive: true })
  })

  test.each([
    [[], [...INFLUXDB, 'clickhouse'], ['clickhouse', 'influx'], 'influxdb'],
    [['embedded'], INFLUXDB, ['influx'], 'influxdb'],
    [['clickhouse'], ['clickhouse'], ['clickhouse'], 'clickhouse'],
    [['cluster'], [...INFLUXDB, ...CLUSTER], ['clickhouse', 'influx'], 'influxdb'],
    [['clickhouse', 'cluster'], CLUSTER, ['clickhouse'], 'clickhouse'],
  ])('without .env, with %j, is valid and starts Stint with its stores', (overlays, services, stores, dashboards) => {
    const project = resolve(overlays)
    expect(Object.keys(project.services).sort()).toEqual([...ALWAYS, ...services].sort())

    const env = given(project, 'stint')
    for (const [name, value] of Object.entries(env))
      if (name.endsWith('_FILE') && value !== '') {
        expect(value).toStartWith('/run/secrets/')
        env[name] = join(dir, name)
        writeFileSync(env[name], 'a secret of this test')
      }
    const config = readConfig(env)
    expect(stores).toEqual(
      [config.clickhouse && 'clickhouse', config.influx && 'influx'].filter((name) => name !== undefined),
    )
    expect(config.clickhouse?.cluster).toBe(overlays.includes('cluster') ? 'stint' : undefined)
    expect(project.services['make-secrets']!.build!.target).toBe(overlays[0] === 'embedded' ? 'embedded' : 'stint')
    const mounted = project.services.grafana!.volumes!.filter(({ target }) => target === '/etc/grafana/dashboards')
    expect(mounted.map(({ source }) => source)).toEqual([join(clone, 'src/deploy/grafana/dashboards', dashboards)])
  })

  test('of .env only the settings of a service reach it', () => {
    const dotEnv = { MAX_RUN: '48h', GRAFANA_SMTP_HOST: 'mail:25', GRAFANA_SMTP_PASSWORD: 'a word', OTHER: 'thing' }
    const lines = Object.entries(dotEnv).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(join(clone, '.env'), lines.join(''))
    const project = resolve()
    rmSync(join(clone, '.env'))
    expect(given(project, 'stint').MAX_RUN).toBe('48h')
    expect(given(project, 'grant-tokens').MAX_RUN).toBe('48h')
    const holders = (value: string) =>
      Object.keys(project.services).filter((name) => Object.values(given(project, name)).includes(value))
    expect([holders('a word'), holders('thing')]).toEqual([['grafana'], []])
  })

  test('a mistake is named', () => {
    expect(load([], readRepo('docker-compose.yml').replace('restart:', 'restrat:'))).toContain('restrat')
  })
})
