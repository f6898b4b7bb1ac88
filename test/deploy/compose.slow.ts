// docker-compose.yml as Docker Compose itself reads it: its own library checks it against the schema, fills in .env and chooses the services.
import { beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missing } from '../support/needs.ts'
import { ROOT, readRepo } from '../support/readme.ts'
import { tempDir } from '../support/temp-dir.ts'

const LIBRARY = 'github.com/compose-spec/compose-go/v2'
const PROGRAM = `package main

import (
	"context"
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
	for _, name := range project.ServiceNames() {
		fmt.Println(name)
	}
}
`
const ALWAYS = ['grafana', 'make-secrets', 'prometheus', 'stint']
const CLUSTER = ['clickhouse-1-1', 'clickhouse-1-2', 'clickhouse-2-1', 'clickhouse-2-2', 'clickhouse-keeper']

describe.skipIf(missing('go') !== undefined)('docker-compose.yml', () => {
  const dir = tempDir('compose-go')
  const clone = join(dir, 'clone')
  const compose = (text = readRepo('docker-compose.yml')) => {
    writeFileSync(join(clone, 'docker-compose.yml'), text)
    const { stdout, stderr } = Bun.spawnSync([join(dir, 'compose'), 'docker-compose.yml'], { cwd: clone })
    return `${stdout}${stderr}`.trim().split('\n')
  }
  beforeAll(() => {
    writeFileSync(join(dir, 'go.mod'), `module compose\n\ngo 1.23\n\nrequire ${LIBRARY} v2.4.7\n`)
    writeFileSync(join(dir, 'main.go'), PROGRAM)
    const env = { ...process.env, GOFLAGS: '-mod=mod' }
    const built = Bun.spawnSync(['go', 'build', '-o', 'compose', '.'], { cwd: dir, env })
    expect([built.exitCode, built.stderr.toString()]).toEqual([0, expect.any(String)])
    mkdirSync(clone)
    cpSync(join(ROOT, 'src/deploy'), join(clone, 'src/deploy'), { recursive: true })
  })

  test('asks for .env first', () => {
    expect(compose().join()).toContain('copy src/deploy/env.example to .env first')
  })

  test.each([
    ['as it is', undefined, [...ALWAYS, 'clickhouse', 'grant-tokens', 'influxdb']],
    ['with InfluxDB alone', 'influxdb', [...ALWAYS, 'grant-tokens', 'influxdb']],
    ['with ClickHouse alone', 'clickhouse', [...ALWAYS, 'clickhouse']],
    ['with a cluster', 'cluster', [...ALWAYS, ...CLUSTER]],
  ])('with env.example %s is valid and starts the services', (_, profiles, services) => {
    const env = join(clone, '.env')
    copyFileSync(join(ROOT, 'src/deploy/env.example'), env)
    if (profiles !== undefined)
      writeFileSync(env, readRepo('src/deploy/env.example').replace(/^(COMPOSE_PROFILES)=.*/m, `$1=${profiles}`))
    expect(compose()).toEqual(services.sort())
    expect(compose(readRepo('docker-compose.yml').replace('restart:', 'restrat:')).join()).toContain('restrat')
  })
})
