// Every page by its name in the address.
import type { ComponentType } from 'preact'

import { AccountPage } from './account/account-page.tsx'
import { AuditPage } from './account/audit-page.tsx'
import { KeysPage } from './account/keys-page.tsx'
import { MembersPage } from './account/members-page.tsx'
import { AlertPage } from './alert/alert-page.tsx'
import { ExceptionsPage } from './exceptions/exceptions-page.tsx'
import { HealthPage } from './health/health-page.tsx'
import { HomePage } from './home/home-page.tsx'
import type { PageProps } from './kit/page.tsx'
import { MaintenancePage } from './maintenance/maintenance-page.tsx'
import { MetricsPage } from './metrics/metrics-page.tsx'
import { AccountsPage } from './operator/accounts-page.tsx'
import { ProcessPage, titleOfProcess } from './process/process-page.tsx'
import { RunsPage, titleOfRuns } from './runs/runs-page.tsx'
import { WatchesPage } from './watch/watches-page.tsx'
import { WelcomePage } from './welcome/welcome-page.tsx'

interface Known {
  readonly title: string
  readonly Page: ComponentType<PageProps>
  /** Its entry in the navigation, if it has none of its own. */
  readonly entry?: string
  /** The title by what the address names, such as a process. */
  titleOf?(params: URLSearchParams): string
}

export const PAGES: Readonly<Record<string, Known>> = {
  home: { title: 'Home', Page: HomePage },
  process: { title: 'Process', Page: ProcessPage, entry: 'home', titleOf: titleOfProcess },
  runs: { title: 'Runs', Page: RunsPage, titleOf: titleOfRuns },
  metrics: { title: 'Metrics', Page: MetricsPage },
  exceptions: { title: 'Exceptions', Page: ExceptionsPage },
  alert: { title: 'Alert', Page: AlertPage, entry: 'watches' },
  watches: { title: 'Alerts & watches', Page: WatchesPage },
  maintenance: { title: 'Maintenance', Page: MaintenancePage, entry: 'watches' },
  keys: { title: 'Keys', Page: KeysPage },
  health: { title: 'Health', Page: HealthPage },
  account: { title: 'Account', Page: AccountPage },
  members: { title: 'Members', Page: MembersPage },
  audit: { title: 'Audit log', Page: AuditPage },
  accounts: { title: 'All accounts', Page: AccountsPage },
  welcome: { title: 'Send data', Page: WelcomePage },
}
