// The work that exactly one node does: it evaluates the watches and delivers the notifications.
//   start: liveness first, because it measures how long no event was accepted; then evaluation and delivery.
//   stop:  evaluation → delivery (what is in flight ends) → liveness, whose last sign of life bounds the time that counts as down.
import { createOutbox, type OutboxOptions } from '../delivery/outbox.ts'
import { createEvaluator, type Evaluator, type EvaluatorOptions } from '../evaluate/evaluator.ts'
import { createLiveness, type LivenessOptions } from '../evaluate/liveness.ts'

export type DutyOptions = Omit<EvaluatorOptions, 'liveness' | 'onChanged'> &
  Omit<OutboxOptions, 'log'> &
  Omit<LivenessOptions, 'log'>

export interface Duty extends Pick<Evaluator, 'expectLate' | 'hurry' | 'unknown' | 'lastRoundUs'> {
  start(): Promise<void>
  stop(): Promise<void>
}

export function createDuty(options: DutyOptions): Duty {
  const outbox = createOutbox(options)
  const liveness = createLiveness(options)
  const evaluator = createEvaluator({
    ...options,
    liveness,
    onChanged: () => void outbox.step().catch(() => {}), // the outbox tries again every second
  })
  return {
    ...evaluator,
    async start() {
      await liveness.start()
      evaluator.start()
      outbox.start()
    },
    async stop() {
      await evaluator.stop()
      await outbox.stop()
      await liveness.stop()
    },
  }
}
