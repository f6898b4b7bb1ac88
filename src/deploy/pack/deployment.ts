// What people deploy: the image's context with docker-compose.yml, and manifests, dashboards and rules without it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readHead } from '../../version.ts'
import { toTarGz } from './archive.ts'
import { ROOT, readPackageJson } from './sources.ts'

const CONTEXT = ['src', 'package.json', 'bun.lock', 'bunfig.toml', 'LICENSE', '.dockerignore', 'docker-compose.yml']
const DEPLOYMENT = ['kubernetes', 'grafana', 'prometheus.yml', 'prometheus-rules.yml', 'stint.service', 'env.example']

/** The committed files under the paths, by `top` and their place from `from`. Throws outside a clone. */
function committed(paths: readonly string[], from: string, top: string): Record<string, Uint8Array> {
  const cwd = join(ROOT, from)
  const { success, stdout, stderr } = Bun.spawnSync(['git', 'ls-files', '-z', '--', ...paths], { cwd })
  if (!success) throw new Error(`git ls-files failed: ${stderr.toString().trim()}; run this in a clone`)
  const names = stdout.toString().split('\0').filter(Boolean)
  return Object.fromEntries(names.map((name) => [`${top}/${name}`, readFileSync(join(cwd, name))]))
}

export function packImageContext(version: string): Uint8Array {
  const top = `stint-image-${version}`
  const files = committed(CONTEXT, '.', top)
  const manifest = readPackageJson()
  return toTarGz({
    ...files,
    [`${top}/package.json`]: `${JSON.stringify({ ...manifest, gitHead: readHead() }, null, 2)}\n`,
  })
}

export function packDeployment(version: string): Uint8Array {
  const top = `stint-deploy-${version}`
  const files = Object.entries(committed(DEPLOYMENT, 'src/deploy', top)).filter(([path]) => !path.endsWith('.ts'))
  return toTarGz({ ...Object.fromEntries(files), ...committed(['LICENSE'], '.', top) })
}
