// Downloads that the server writes. A download names no account, so the session is asked first: another tab may change it.
import { useState } from 'preact/hooks'
import type { App } from './page.ts'
import { explain } from './region.ts'

interface Props {
  readonly app: Pick<App, 'api'>
  readonly label: string
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
  readonly formats: readonly (readonly [format: string, label: string])[]
}

export function DownloadLinks({ app, label, path, query, formats }: Props) {
  const [fault, setFault] = useState('')
  async function download(event: MouseEvent, href: string): Promise<void> {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return // the browser's own
    event.preventDefault()
    setFault('')
    try {
      await app.api.get('api/changes')
      const link = document.createElement('a')
      link.href = href
      link.download = ''
      link.click()
    } catch (error) {
      const { title, detail } = explain(error)
      setFault(`${title}. ${detail}`)
    }
  }
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return (
    <div class="export">
      <p class="muted">
        {label}:{' '}
        {formats.map(([format, name]) => {
          const href = `${path}?${new URLSearchParams([...given, ['format', format]])}`
          return (
            <a key={format} href={href} onClick={(event) => void download(event, href)}>
              {name}
            </a>
          )
        })}
      </p>
      {fault !== '' && (
        <p class="field-fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
