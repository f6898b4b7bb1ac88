// Where a watch of a process is made.
import { formatRoute } from '../kit/route.ts'

export const watchLink = (process: string): string => formatRoute('process', { process, watch: 'new' })
