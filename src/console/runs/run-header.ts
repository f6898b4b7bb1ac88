// The heading of the Runs page: the process that is shown, or all of them.
import { fill, h, nameText } from '../kit/dom.ts'
import { pageHeader } from '../kit/page.ts'
import { changeParams, formatRoute } from '../kit/route.ts'

export function createRunHeader() {
  const heading = h('span', 'Runs')
  const lead = h('span')
  const watchLink = h('a.button', { hidden: true }, 'Watch this process')
  return {
    element: pageHeader(heading, lead, watchLink),
    show(process: string | undefined, params: URLSearchParams) {
      watchLink.hidden = process === undefined
      watchLink.href = formatRoute('watches', { 'watch-process': process })
      fill(heading, process === undefined ? 'Runs' : nameText(process))
      const all = formatRoute('runs', changeParams(params, { process: undefined, meta: undefined }))
      fill(lead, process === undefined ? 'All runs, live.' : h('a', { href: all }, 'All processes'))
    },
  }
}
