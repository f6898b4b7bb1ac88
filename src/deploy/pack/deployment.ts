// What people deploy, as `git archive` has it at the last commit: the image's context with docker-compose.yml, and
// manifests, dashboards and rules without it.
import { join } from 'node:path'
import { readHead } from '../../version.ts'
import { ROOT, readPackageJson, runTool, toJson } from './sources.ts'

const CONTEXT = ['src', 'bun.lock', 'bunfig.toml', 'LICENSE', '.dockerignore', 'docker-compose.yml']
const DEPLOYMENT = [
  ...['kubernetes', 'kubernetes-embedded', 'grafana', 'prometheus.yml', 'prometheus-rules.yml'],
  ...['prometheus-stint-rules.yml', 'stint.service', 'env.example'],
]

/** Of the paths in `cwd`. Throws outside a clone. */
function archive(dist: string, top: string, cwd: string, added: string, paths: readonly string[]): void {
  const out = ['--format=tar.gz', `--prefix=${top}/`, '-o', join(dist, `${top}.tar.gz`)]
  runTool(['git', 'archive', ...out, added, 'HEAD', ...paths], cwd)
}

export function packImageContext(dist: string, version: string): void {
  const top = `stint-image-${version}`
  const manifest = toJson({ ...readPackageJson(), gitHead: readHead() })
  archive(dist, top, ROOT, `--add-virtual-file=${top}/package.json:${manifest}`, CONTEXT)
}

export const packDeployment = (dist: string, version: string): void =>
  archive(dist, `stint-deploy-${version}`, join(ROOT, 'src/deploy'), `--add-file=${join(ROOT, 'LICENSE')}`, DEPLOYMENT)
