// Downloads that the server writes, in a menu. A download names no account, so the session is asked first: another tab
// may change it.

import { Menu } from './menu.tsx'
import { useAttempt } from './use-attempt.tsx'
import { useView } from './view.tsx'

interface Props {
  /** Names what is downloaded, such as `whole texts`. */
  readonly what: string
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
}

const FORMATS = [
  ['csv', 'CSV'],
  ['jsonl', 'JSON lines'],
] as const

export function DownloadMenu({ what, path, query }: Props) {
  const { app } = useView()
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
        {FORMATS.map(([format, label]) => (
          <a key={format} href={`${path}?${new URLSearchParams([...given, ['format', format]])}`} onClick={download}>
            {label}
          </a>
        ))}
      </Menu>
      {fault}
    </div>
  )
}
