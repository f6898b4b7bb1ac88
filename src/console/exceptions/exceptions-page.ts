// The page of exceptions: the groups, or the group that the address names.
import type { OpenPage, Page } from '../kit/page.ts'
import { openGroupPage } from './group-page.tsx'
import { openGroupsPage } from './groups-page.tsx'

export const openExceptionsPage: OpenPage = (app) => {
  const element = document.createElement('div')
  let shown: Page | undefined
  let isGroup: boolean | undefined
  return {
    element,
    show(params) {
      if (params.has('group') !== isGroup) {
        shown?.close()
        isGroup = params.has('group')
        shown = isGroup ? openGroupPage(app) : openGroupsPage(app)
        element.replaceChildren(shown.element)
      }
      shown?.show(params)
    },
    close: () => shown?.close(),
  }
}
