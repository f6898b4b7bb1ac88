// Downloads that the server writes, in a menu. A download names no account, so the session is asked first: another tab may
// change it.

import type { App } from './app.ts'
import { Menu } from './menu.tsx'
import { useAttempt } from './use-attempt.tsx'

interface Props {
  readonly app: Pick<App, 'api'>
  /** Names what is downloaded, such as `whole texts`. */
  readonly what: string
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly formats: readonly (readonly [format: string, label: string])[]
}

export function DownloadMenu({ app, what, path, query, formats }: Props) {
  const { fault, attempt } = useAttempt()
  function download(event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return // the browser's own
    event.preventDefault()
    const { href } = event.currentTarget
    void attempt(async () => {
      await app.api.get('api/series')
      const link = document.createElement('a')
      link.href = href
      link.download = ''
      link.click()
    })
  }
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return (
    <div class="table-menu">
      <Menu label={`Export ${what}`}>
        {formats.map(([format, label]) => (
          <a key={format} href={`${path}?${new URLSearchParams([...given, ['format', format]])}`} onClick={download}>
            {label}
          </a>
        ))}
      </Menu>
      {fault}
    </div>
  )
}
