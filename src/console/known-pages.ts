// Every page by its name in the address.

import { openAccountPage } from './account/account-page.tsx'
import { openAuditPage } from './account/audit-page.tsx'
import { openKeysPage } from './account/keys-page.tsx'
import { openMembersPage } from './account/members-page.tsx'
import { openExceptionsPage } from './exceptions/exceptions-page.tsx'
import { openHealthPage } from './health/health-page.tsx'
import { openHomePage } from './home/home-page.tsx'
import type { OpenPage } from './kit/page.ts'
import { openMaintenancePage } from './maintenance/maintenance-page.tsx'
import { openMetricsPage } from './metrics/metrics-page.tsx'
import { openProcessPage, titleOfProcess } from './process/process-page.tsx'
import { openRunsPage, titleOfRuns } from './runs/runs-page.tsx'
import { openWatchesPage } from './watch/watches-page.tsx'
import { openWelcomePage } from './welcome/welcome-page.tsx'

interface Known {
  readonly title: string
  readonly open: OpenPage
  /** Its entry in the navigation, if it has none of its own. */
  readonly entry?: string
  /** Of what the address names. */
  titleOf?(params: URLSearchParams): string
}

export const PAGES: Readonly<Record<string, Known>> = {
  home: { title: 'Home', open: openHomePage },
  process: { title: 'Process', open: openProcessPage, entry: 'home', titleOf: titleOfProcess },
  runs: { title: 'Runs', open: openRunsPage, titleOf: titleOfRuns },
  metrics: { title: 'Metrics', open: openMetricsPage },
  exceptions: { title: 'Exceptions', open: openExceptionsPage },
  watches: { title: 'Alerts & watches', open: openWatchesPage },
  maintenance: { title: 'Maintenance', open: openMaintenancePage, entry: 'watches' },
  keys: { title: 'Keys', open: openKeysPage },
  health: { title: 'Health', open: openHealthPage },
  account: { title: 'Account', open: openAccountPage },
  members: { title: 'Members', open: openMembersPage },
  audit: { title: 'Audit log', open: openAuditPage },
  welcome: { title: 'Send data', open: openWelcomePage },
}
