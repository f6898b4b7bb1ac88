// The range of the page of a process, chosen in the card that it is about.
import { Segments } from '../kit/segments.tsx'
import { useView } from '../kit/view.tsx'
import { RANGES, type Range } from './range.ts'

const ITEMS = RANGES.map(({ from: value, label }) => ({ value, label }))

export function Ranges({ chosen }: { chosen: Range }) {
  const { change } = useView()
  return <Segments label="Range" items={ITEMS} chosen={chosen.from} choose={(from) => change({ from }, 'replace')} />
}
