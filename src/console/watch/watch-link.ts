// Where a watch of a process is made, and where an alert is shown.
import type { OverviewProcess } from '../../wire/overview.ts'
import { formatRoute } from '../kit/route.ts'

export const watchLink = (process: string): string => formatRoute('process', { process, watch: 'new' })

/** The alert about what its sentence says, else the newest. */
export const alertOf = ({ state, alerts }: Pick<OverviewProcess, 'state' | 'alerts'>) => {
  const about = state === 'silent' ? 'late' : state === 'overdue' ? 'long' : 'failed'
  return alerts.find(({ condition }) => condition === about) ?? alerts[0]
}

export const alertLink = (id: string): string => formatRoute('alert', { id })
