// What starts Stint outside of compose: the Kubernetes manifests against the types of Kubernetes' own API, and the systemd unit against systemd.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { YAML } from 'bun'
import { readConfig } from '../../src/config.ts'
import { readSettings } from '../support/read-settings.ts'
import { tempDir } from '../support/temp-dir.ts'

const ROOT = join(import.meta.dir, '../..')
const MANIFEST = join(ROOT, 'src/deploy/kubernetes/stint.yaml')
const UNIT = join(ROOT, 'src/deploy/stint.service')

interface Resource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: the compiler checks it against the API's types below
  readonly [property: string]: any
}

const readManifest = (path: string) =>
  readFileSync(path, 'utf8')
    .split(/^---$/m)
    .map((text) => YAML.parse(text) as Resource)
const resources = readManifest(MANIFEST)
const embedded = readManifest(MANIFEST.replace('kubernetes/', 'kubernetes-embedded/'))
const find = (kind: string, name = 'stint') =>
  resources.find((resource) => resource.kind === kind && resource.metadata.name === name)!
const set = find('StatefulSet')
const pod = set.spec.template.spec
const [container] = pod.containers

describe('the Kubernetes manifests', () => {
  // within node_modules: the package must be found from there
  const dir = mkdtempSync(join(ROOT, 'node_modules/.stint-kubernetes-'))

  function compile(all: readonly Resource[]): string {
    const source = all.map(({ apiVersion, kind, ...rest }, i) => {
      const path = apiVersion === 'v1' ? 'core/v1' : apiVersion.replace('.k8s.io', '')
      const body = JSON.stringify({ apiVersion, kind, ...rest })
      return `import type { ${kind} as T${i} } from 'kubernetes-types/${path}'\nexport const r${i}: T${i} = ${body}`
    })
    writeFileSync(join(dir, 'manifest.ts'), source.join('\n'))
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: 'Preserve',
      target: 'ESNext',
      types: [],
    }
    writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manifest.ts'] }))
    const tsc = Bun.spawnSync([process.execPath, 'x', 'tsc', '-p', dir], { cwd: ROOT })
    return tsc.stdout.toString() + tsc.stderr.toString()
  }

  test('fit the schema of the API, which rejects invalid ones', () => {
    expect(compile(resources)).toBe('')
    expect(compile(embedded)).toBe('')
    const broken = structuredClone(resources)
    const spec = broken.find(({ kind }) => kind === 'StatefulSet')!.spec.template.spec
    spec.containers[0].readinesProbe = spec.containers[0].readinessProbe
    spec.terminationGracePeriodSeconds = '30'
    expect(compile(broken)).toMatch(/readinesProbe/)
    expect(compile(broken)).toMatch(/'string' is not assignable to type 'number'/)
  })

  test('hold the resources that a node needs, each selecting the pods of the set', () => {
    expect(resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ConfigMap stint',
      'StatefulSet stint',
      'Service stint',
      'Service stint-nodes',
      'PodDisruptionBudget stint',
      'NetworkPolicy stint',
      'Ingress stint',
    ])
    expect(find('Ingress').spec.rules[0].host).toBe(new URL(find('ConfigMap').data.PUBLIC_URL).host)
    const { labels } = set.spec.template.metadata
    for (const selector of [
      set.spec.selector.matchLabels,
      find('Service').spec.selector,
      find('Service', set.spec.serviceName).spec.selector,
      find('PodDisruptionBudget').spec.selector.matchLabels,
      find('NetworkPolicy').spec.podSelector.matchLabels,
    ])
      expect(labels).toMatchObject(selector)
  })

  test('give the process no unnecessary privileges and a volume only for DATA_DIR', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => !readOnly)
    expect(writable.map(({ mountPath }: { mountPath: string }) => mountPath)).toEqual(['/data', '/tmp'])
    const names = [...pod.volumes, ...set.spec.volumeClaimTemplates.map((claim: Resource) => claim.metadata)]
    for (const { name } of container.volumeMounts) expect(names.map((volume) => volume.name)).toContain(name)
  })

  test('use the probes of Stint and a grace period longer than its shutdown', () => {
    const port = Number(find('ConfigMap').data.PORT)
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }])
    expect([container.startupProbe, container.livenessProbe, container.readinessProbe].map((it) => it.httpGet)).toEqual(
      [
        { path: '/livez', port: 'http' },
        { path: '/livez', port: 'http' },
        { path: '/readyz', port: 'http' },
      ],
    )
    const stopDelayS = Number.parseInt(find('ConfigMap').data.STOP_DELAY, 10)
    expect(stopDelayS).toBeGreaterThanOrEqual(container.readinessProbe.periodSeconds)
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10 + stopDelayS)
    expect(find('NetworkPolicy').spec.ingress).toEqual([{ ports: [{ protocol: 'TCP', port }] }])
  })

  test('have settings that Stint accepts, and secrets as files', () => {
    const dir = tempDir('kubernetes')
    const data: Record<string, string> = { ...find('ConfigMap').data, NODE_ID: '0' }
    for (const [name, path] of Object.entries(data)) {
      expect([name, /PASSWORD|TOKEN|CODE/.test(name)]).toEqual([name, name.endsWith('_FILE')])
      if (!name.endsWith('_FILE')) continue
      expect(path).toStartWith('/run/secrets/stint/')
      writeFileSync(join(dir, name), 'a secret of a test')
      data[name] = join(dir, name)
    }
    expect(readSettings(data)).toMatchObject({
      host: '0.0.0.0',
      dataDir: '/data',
      influx: { token: 'a secret of a test' },
    })
  })
})

test('Stint alone on Kubernetes needs no store, and no port of one', () => {
  const of = (kind: string) => embedded.find((resource) => resource.kind === kind)!
  const { SETUP_CODE_FILE: _, ...data } = of('ConfigMap').data
  expect(readConfig({ ...data, SETUP_CODE: 'a set-up code of a test' })).toMatchObject({
    host: '0.0.0.0',
    dataDir: '/data',
  })
  expect(JSON.stringify(embedded)).not.toMatch(/INFLUX|CLICKHOUSE|8086|8123|5432/)
  expect(of('StatefulSet').spec.serviceName).toBe(of('Service').metadata.name)
})

describe('the systemd unit', () => {
  const unit = readFileSync(UNIT, 'utf8')
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

  test.skipIf(Bun.which('systemd-analyze') === null)('is valid, and less exposed than most (1.5 of 10)', () => {
    // the program need not be where the unit has it
    const path = join(tempDir('unit'), 'stint.service')
    writeFileSync(path, unit.replace('/usr/local/bin/bun', process.execPath).replace('/opt/stint', '/'))
    const verified = Bun.spawnSync(['systemd-analyze', 'verify', path])
    expect([verified.exitCode, verified.stderr.toString()]).toEqual([0, ''])
    const judged = Bun.spawnSync(['systemd-analyze', 'security', '--offline=true', '--threshold=15', path])
    expect(judged.exitCode).toBe(0)
    writeFileSync(path, unit.replace('KillMode=mixed', 'KilMode=mixed'))
    expect(Bun.spawnSync(['systemd-analyze', 'verify', path]).stderr.toString()).toContain('KilMode')
  })

  test('signals only the main process, waits longer than its shutdown, and can write only to DATA_DIR', () => {
    expect(value('KillMode')).toBe('mixed')
    expect(Number(value('TimeoutStopSec'))).toBeGreaterThan(10)
    expect(value('ProtectSystem')).toBe('strict')
    expect(value('Environment')).toContain(`DATA_DIR=/var/lib/${value('StateDirectory')}`)
    expect(unit).not.toContain('ReadWritePaths')
  })
})
