// When the duration changed, as a dashed line with its words.
import type { OverviewProcess } from '../../wire/overview.ts'
import { parseTime } from '../kit/format-time.ts'
import { shortMoment } from '../kit/words.ts'

interface Props {
  readonly change: NonNullable<OverviewProcess['change']>
  readonly x: number
  readonly width: number
  readonly top: number
  readonly bottom: number
  readonly toMs: number
}

export function ChangeMark({ change, x, width, top, bottom, toMs }: Props) {
  const { at, before_ms: before, after_ms: after } = change
  const isSlower = after > before
  const times = isSlower ? after / before : before / after
  const isRight = x > width * 0.6
  return (
    <g>
      <path class={isSlower ? 'chart-change' : 'chart-change good'} d={`M${x} ${top - 8}V${bottom}`} />
      <text
        class={isSlower ? 'chart-text warn' : 'chart-text'}
        x={x + (isRight ? -6 : 6)}
        y={top - 4}
        text-anchor={isRight ? 'end' : 'start'}
      >
        {`${times.toFixed(1)}× ${isSlower ? 'slower' : 'faster'} since ${shortMoment(parseTime(at), toMs)}`}
      </text>
    </g>
  )
}
