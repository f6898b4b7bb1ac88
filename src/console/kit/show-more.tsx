// A list that grows by a page at a time: the address holds how many pages are shown.
import { useView } from './view.tsx'

const pagesOf = (params: URLSearchParams): number => Math.max(1, Math.floor(Number(params.get('pages') ?? 1)) || 1)

/** How much `getPages` reads for the address. */
export const pagesIn = (params: URLSearchParams, pageRows: number) => ({
  pageRows,
  maxRows: pageRows * pagesOf(params),
})

export function ShowMore({ label = 'Show more' }: { label?: string }) {
  const { params, change } = useView()
  return (
    <button type="button" class="button" onClick={() => change({ pages: String(pagesOf(params) + 1) }, 'replace')}>
      {label}
    </button>
  )
}
