// Histories of the attacks on the judge, told in seconds since T0.
import type { JudgedWatch, Mark } from '../../../src/watch/log/judge-interface.ts'
import { markOf, openDesk, S, T0, watchOf } from './judge-kit.ts'

export const at = (seconds: number): number => T0 + seconds * S
export const start = (seconds: number, more: Partial<Mark> = {}) => markOf('start', at(seconds), more)
export const end = (seconds: number, more: Partial<Mark> = {}) => markOf('end', at(seconds), more)
export const failed = (seconds: number, more: Partial<Mark> = {}) => markOf('failed', at(seconds), more)
/** It arrives then. */
export const later = (seconds: number, mark: Mark): Mark => ({ ...mark, arrivedUs: at(seconds) })
export const story = (watches: readonly JudgedWatch[], marks: readonly Mark[], untilS: number): string => {
  const desk = openDesk({ watches })
  desk.apply(...marks)
  desk.advance(at(untilS))
  return desk.story()
}

export const HOURLY = watchOf('hourly', { late: { every: '1h', grace: '5m' } })
export const FAILED = watchOf('failed', { failed: {} })
export const LONG = watchOf('long', { long: '10m' })
