// Screen readers hear of a process whose state changed since the last answer, not of the seconds in its sentence.
import { useEffect, useRef } from 'preact/hooks'
import type { OverviewProcess } from '../../wire/overview.ts'
import { type ProcessState, toneOf } from '../../wire/process-state.ts'
import { PROCESS_STATE_TEXT } from '../../wire/words.ts'
import { useView } from './view.tsx'

type Row = Pick<OverviewProcess, 'process' | 'state'>
type Known = ReadonlyMap<string, ProcessState>

/** More are a number. */
const NAMED_MAX = 3

/** `isOne`: the page is about one process, so that each of its states counts; else starts and ends are too many. */
export function useAnnounced(rows: readonly Row[], isOne = false): void {
  const { app } = useView()
  const known = useRef<Known>(undefined)
  useEffect(() => {
    const text = known.current && describeChanges(known.current, rows, isOne)
    known.current = new Map(rows.map(({ process, state }) => [process, state]))
    if (text) app.announce(text)
  })
}

/** `job failed. import is fine.`; empty without a change. A process that was not known counts once it is in trouble. */
export function describeChanges(before: Known, rows: readonly Row[], isOne = false): string {
  const isNews = ({ process, state }: Row) => {
    const last = before.get(process)
    if (last === state) return false
    return isOne || toneOf(state) !== 'good' || (last !== undefined && toneOf(last) !== 'good')
  }
  const news = rows.filter(isNews)
  const texts = news.slice(0, NAMED_MAX).map(({ process, state }) => `${process} ${PROCESS_STATE_TEXT[state][2]}.`)
  const more = news.length - texts.length
  return [...texts, ...(more > 0 ? [`${more} more changed.`] : [])].join(' ')
}
