// The Python client as a wheel. Needs Python 3 with pip, which fetches the setuptools that pyproject.toml names.
import { read, runTool, stage, withTempDir } from './sources.ts'

export const packWheel = (dist: string): void =>
  withTempDir((dir) => {
    stage(dir, {
      'pyproject.toml': read('src/client/python/pyproject.toml'),
      'README.md': read('src/client/README.md'),
      LICENSE: read('LICENSE'),
      // a package, since only in one do type checkers look for `py.typed`
      'stint/__init__.py': read('src/client/python/stint.py'),
      'stint/py.typed': '',
    })
    runTool(['python3', '-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', dist, dir], dir)
  })
