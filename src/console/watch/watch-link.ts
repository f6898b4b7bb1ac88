// Where a watch of a process is made, and where an alert is shown.
import { formatRoute } from '../kit/route.ts'

export const watchLink = (process: string): string => formatRoute('process', { process, watch: 'new' })

export const alertLink = (id: string): string => formatRoute('alert', { id })
