// The account's processes for Prometheus.
import { defineRoute, QUESTION } from './route.ts'

export const SHOW_PROMETHEUS = defineRoute('GET /api/prometheus', {
  ...QUESTION,
  summary: "Show the account's processes to Prometheus",
  description:
    'Prometheus text format: per process and meta the newest start, success, failure and duration, what runs ' +
    'now, the runs and exceptions of the last 24 hours; the newest value of each metric; the state of each process; the alerts that fire. ' +
    'Runs and metrics of the last 31 days are known. At most 10,000 series; `stint_series_omitted` counts the ' +
    'others. An answer is used again for five seconds.',
  parameters: [],
  answers: {
    200: {
      description: 'Prometheus text format',
      body: 'stint_run_last_success_timestamp_seconds{process="nightly import"} 1763675562.17192\n',
    },
  },
})
