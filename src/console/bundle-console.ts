// Bundles the console in memory at the first request; nothing is written, so a read-only root file system is enough. If
// bundling fails, Stint continues: the failure is logged and bundling is retried at the next request.

import type { BuildConfig, BunPlugin } from 'bun'

/** No resources from or requests to other hosts, and no inline scripts or styles. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

export interface ConsoleFile {
  /** Bytes are already compressed. */
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly type: string
  /** Hash of the content. Names of scripts and styles contain it, so that they can be cached forever. */
  readonly hash: string
}

interface Bundle {
  readonly page: ConsoleFile
  readonly assets: ReadonlyMap<string, ConsoleFile>
}

/** The path of the assets, relative to the page. */
const ASSETS = 'console'

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', woff2: 'font/woff2' }
/** The Latin part of a variable font; other scripts use system fonts. */
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'
/** Its URL in the style sheet. The bundler would inline it there, where it cannot be cached on its own. */
const FONT_IN_STYLE = './inter.woff2'

export type Console = ReturnType<typeof createConsole>

export function createConsole(keyHeader: string) {
  let bundle: Promise<Bundle> | undefined
  const load = () => {
    bundle ??= bundleConsole(keyHeader).catch((error) => {
      bundle = undefined
      throw error
    })
    return bundle
  }
  return {
    /** Both reject when the bundle fails. */
    page: async (): Promise<ConsoleFile> => (await load()).page,
    /** A script or style by its name; undefined if this version has no such file. */
    asset: async (name: string): Promise<ConsoleFile | undefined> => (await load()).assets.get(name),
  }
}

async function bundleConsole(keyHeader: string): Promise<Bundle> {
  const [script, sheet] = await Promise.all([
    build('./main.tsx', { target: 'browser', plugins: [SMALLER] }),
    build('./styles/console.css', { target: 'bun', external: ['*.woff2'] }), // as it is: no prefixes for old browsers
  ])
  const assets = new Map<string, ConsoleFile>()
  function add(ending: keyof typeof TYPES, body: ConsoleFile['body']): string {
    const file = toFile(body, TYPES[ending])
    const name = `stint-${file.hash}.${ending}`
    assets.set(name, file)
    return name
  }
  const font = add('woff2', await Bun.file(new URL(import.meta.resolve(FONT))).bytes())
  const style = sheet.replace(FONT_IN_STYLE, font)
  const page = shellPage({
    script: `${ASSETS}/${add('js', script)}`,
    style: `${ASSETS}/${add('css', style)}`,
    font: `${ASSETS}/${font}`,
    keyHeader,
  })
  return { page: toFile(page, 'text/html; charset=utf-8'), assets }
}

/**
 * Writes what the bundler makes smaller: children as arguments instead of a property, and imports behind the constants,
 * which are inlined only before the first import. JSX would else need a tsconfig.json, which no image or package has.
 */
const SMALLER: BunPlugin = {
  name: 'smaller',
  setup({ onLoad }) {
    const compilerOptions = { jsx: 'react', jsxFactory: '$h', jsxFragmentFactory: '$Fragment' } as const
    const transpiler = new Bun.Transpiler({ tsconfig: { compilerOptions } })
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const text = await transpiler.transform(await Bun.file(path).text(), path.endsWith('x') ? 'tsx' : 'ts')
      const [, imports = '', rest = ''] = /^((?:import [^;]*;\n)*)(.*)$/s.exec(text) ?? []
      return { contents: `${rest}\nimport { h as $h, Fragment as $Fragment } from 'preact'\n${imports}`, loader: 'js' }
    })
  },
}

async function build(path: string, config: Partial<BuildConfig>): Promise<string> {
  const entrypoints = [Bun.fileURLToPath(new URL(path, import.meta.url))]
  const { outputs } = await Bun.build({ ...config, entrypoints, format: 'esm', minify: true })
  const [output] = outputs
  if (output === undefined) throw new Error(`the bundle of ${path} is empty`)
  return output.text()
}

const toFile = (body: ConsoleFile['body'], type: string): ConsoleFile => ({
  body,
  type,
  hash: new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 16),
})

// The only HTML page: it loads the script and the style and holds the script's settings.
interface ShellPage {
  /** URLs relative to the page, so that it also works behind a proxy that adds a path. */
  readonly script: string
  readonly style: string
  /** Loaded at once: a font that arrives after the text moves it. */
  readonly font: string
  /** The header that carries an API key. */
  readonly keyHeader: string
}

/** Three runs in their lanes; also drawn by kit/icons.ts. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Crect width='24' " +
  "height='24' rx='6' fill='%230c6b5f'/%3E%3Cg fill='%23fff'%3E%3Crect x='4' y='6' width='9' height='3' " +
  "rx='1.5'/%3E%3Crect x='8' y='10.5' width='12' height='3' rx='1.5'/%3E%3Crect x='5' y='15' width='6' " +
  "height='3' rx='1.5'/%3E%3C/g%3E%3C/svg%3E"

const shellPage = ({ script, style, font, keyHeader }: ShellPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="stint-key-header" content="${Bun.escapeHTML(keyHeader)}">
<title>Stint</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${Bun.escapeHTML(style)}">
<link rel="preload" href="${Bun.escapeHTML(font)}" as="font" type="font/woff2" crossorigin>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. The API gives the same answers: see /swagger.</p></noscript>
<script type="module" src="${Bun.escapeHTML(script)}"></script>
</body>
</html>
`
