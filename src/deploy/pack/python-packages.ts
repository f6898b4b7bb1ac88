// The Python client as wheel and source distribution.
import { createHash } from 'node:crypto'
import { toTarGz, toZip } from './archive.ts'
import { type PackageJson, read } from './sources.ts'

const metadata = ({ version, license }: PackageJson) => `Metadata-Version: 2.1
Name: stint-client
Version: ${version}
Summary: Times runs of your code and sends marks, metrics and exceptions to Stint
License: ${license}
Requires-Python: >=3.9
Description-Content-Type: text/markdown

${read('src/client/README.md')}`

const PYPROJECT = ({ version, license }: PackageJson) => `[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "stint-client"
version = "${version}"
description = "Times runs of your code and sends marks, metrics and exceptions to Stint"
requires-python = ">=3.9"
license = { text = "${license}" }
readme = "README.md"

[tool.setuptools]
packages = ["stint"]
package-data = { stint = ["py.typed"] }
`

/** A package, since only in one do type checkers look for `py.typed`. */
const modules = () => ({ 'stint/__init__.py': read('src/client/python/stint.py'), 'stint/py.typed': '' })

export function packWheel(root: PackageJson): Uint8Array {
  const info = `stint_client-${root.version}.dist-info`
  const files: Record<string, string> = {
    ...modules(),
    [`${info}/METADATA`]: metadata(root),
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: stint\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/LICENSE`]: read('LICENSE'),
  }
  const record = Object.entries(files).map(([path, text]) => {
    const hash = createHash('sha256').update(text).digest('base64url')
    return `${path},sha256=${hash},${Buffer.byteLength(text)}`
  })
  return toZip({ ...files, [`${info}/RECORD`]: `${[...record, `${info}/RECORD,,`].join('\n')}\n` })
}

export function packSdist(root: PackageJson): Uint8Array {
  const top = `stint_client-${root.version}`
  return toTarGz({
    [`${top}/PKG-INFO`]: metadata(root),
    [`${top}/pyproject.toml`]: PYPROJECT(root),
    [`${top}/README.md`]: read('src/client/README.md'),
    [`${top}/LICENSE`]: read('LICENSE'),
    ...Object.fromEntries(Object.entries(modules()).map(([path, text]) => [`${top}/${path}`, text])),
  })
}
