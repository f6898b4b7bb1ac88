// Bundles the console for the browser in memory at the first request; nothing is written, so a read-only root is enough. A failed bundle does
// not stop Stint: it is logged and retried at the next request.
import { shellPage } from './shell-page.ts'

export interface ConsoleFile {
  /** Bytes are compressed already. */
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly type: string
  /** Of its content; the name of a script or style holds it too, so that these never change. */
  readonly hash: string
}

export interface Console {
  /** Both reject when the bundle fails. */
  page(): Promise<ConsoleFile>
  /** A script or style by its name, undefined for names that this version does not have. */
  asset(name: string): Promise<ConsoleFile | undefined>
}

interface Bundle {
  readonly page: ConsoleFile
  readonly assets: ReadonlyMap<string, ConsoleFile>
}

/** Where assets live, relative to the page. */
const ASSETS = 'console'

const ENTRYPOINTS = ['./main.ts', './styles/console.css'].map((path) =>
  Bun.fileURLToPath(new URL(path, import.meta.url)),
)
const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', woff2: 'font/woff2' }
/** The Latin part of one variable font; other scripts are shown in the system's own. */
const FONT = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'
/** What the style sheet calls it; the bundler would write it into the style sheet, where no cache keeps it for itself. */
const FONT_IN_STYLE = './inter.woff2'

export function createConsole(keyHeader: string): Console {
  let bundle: Promise<Bundle> | undefined
  const load = () => {
    bundle ??= bundleConsole(keyHeader).catch((error) => {
      bundle = undefined
      throw error
    })
    return bundle
  }
  return {
    page: async () => (await load()).page,
    asset: async (name) => (await load()).assets.get(name),
  }
}

async function bundleConsole(keyHeader: string): Promise<Bundle> {
  const external = ['*.woff2']
  const { outputs } = await Bun.build({
    ...{ entrypoints: ENTRYPOINTS, target: 'browser', format: 'esm', minify: true, external },
  })
  const assets = new Map<string, ConsoleFile>()
  const textOf = async (ending: keyof typeof TYPES) => {
    const output = outputs.find(({ path }) => path.endsWith(`.${ending}`))
    if (output === undefined) throw new Error(`the bundle has no .${ending} file`)
    return output.text()
  }
  function add(ending: keyof typeof TYPES, body: ConsoleFile['body']): string {
    const file = toFile(body, TYPES[ending])
    const name = `stint-${file.hash}.${ending}`
    assets.set(name, file)
    return name
  }
  const font = add('woff2', await Bun.file(new URL(import.meta.resolve(FONT))).bytes())
  const style = (await textOf('css')).replace(FONT_IN_STYLE, font)
  const page = shellPage({
    script: `${ASSETS}/${add('js', await textOf('js'))}`,
    style: `${ASSETS}/${add('css', style)}`,
    keyHeader,
  })
  return { page: toFile(page, 'text/html; charset=utf-8'), assets }
}

const toFile = (body: ConsoleFile['body'], type: string): ConsoleFile => ({
  body,
  type,
  hash: new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 16),
})
