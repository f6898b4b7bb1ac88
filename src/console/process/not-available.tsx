// Stands in a card whose question was refused, or whose store does not answer.
import type { ApiError } from '../kit/api.ts'
import { explainText } from '../kit/explain.ts'

export const NotAvailable = ({ error }: { error: ApiError }) => (
  <p class="muted">{`Not available. ${explainText(error)}`}</p>
)
