// One history for each way in which alerts of a failure can be false, missed, doubled or late; see attacks.test.ts.
import { describe, expect, test } from 'bun:test'
import type { Mark, RaisedException } from '../../../src/watch/log/judge-interface.ts'
import { at, end, FAILED, failed, later, start, story } from './attack-kit.ts'
import { ACCOUNT, DAY, type Desk, openDesk, S, T0, watchOf } from './judge-kit.ts'

const raised = (desk: Desk, more: Pick<RaisedException, 'atUs' | 'arrivedUs'> & Partial<RaisedException>): void => {
  desk.advance(more.arrivedUs)
  desk.judge.applyException(ACCOUNT, { process: 'job', meta: '', headline: 'Error: x', ...more })
}

describe('failed', () => {
  test('fires with its event, and ends with the next success', () => {
    expect(story([FAILED], [start(0), failed(10), start(20), end(30)], 40)).toBe('failed@10 failed ends@30')
  })
  test('an end that says failed is a failed run without a start', () => {
    expect(story([FAILED], [failed(10)], 20)).toBe('failed@10')
  })
  test('its start that arrives later makes no second failure', () => {
    const twice = watchOf('w', { failed: { after: 2 } })
    expect(story([twice], [failed(10, { uid: 'a' }), later(11, start(5, { uid: 'a' }))], 20)).toBe('')
  })
  test('a row that only such ends made ends with an end without a start; another one does not', () => {
    expect(story([FAILED], [failed(10), end(20)], 30)).toBe('failed@10 failed ends@20')
    expect(story([FAILED], [start(5), failed(10), end(20)], 30)).toBe('failed@10')
  })
  test('a late failure and the success after it are one notification, which is over', () => {
    const backlog = [start(0), failed(10), start(100), end(110)].map((mark, i) => later(7200 + i, mark))
    expect(story([FAILED], backlog, 7400)).toBe('failed@10–110')
    const more = [start(200), end(210)].map((mark, i) => later(7204 + i, mark))
    expect(story([FAILED], [...backlog, ...more], 7400)).toBe('failed@10–110')
    expect(
      story(
        [watchOf('w', { failed: { after: 2 } })],
        [...backlog, later(7210, start(50, { uid: 'b' })), later(7211, failed(60, { uid: 'b' }))],
        7400,
      ),
    ).toBe('')
  })
  test('a host whose clock is two minutes behind alerts', () => {
    const behind = (mark: Mark): Mark => ({ ...mark, arrivedUs: mark.atUs + 120 * S })
    const marks = Array.from({ length: 10 }, (_, i) => [start(60 * i), failed(60 * i + 5)]).flat()
    expect(story([FAILED], marks.map(behind), 700)).toBe('failed@5')
  })
  test('a failure of a week ago fires, of before the watch or of longer ago it does not', () => {
    const old = (days: number) => [start(0), failed(10)].map((mark) => later(days * 86_400, mark))
    const since = { sinceUs: T0 - 30 * DAY }
    expect(story([watchOf('w', { failed: {} }, since)], old(6.9), 8 * 86_400)).toBe('failed@10')
    expect(story([watchOf('w', { failed: {} }, since)], old(7.1), 8 * 86_400)).toBe('')
    expect(story([watchOf('w', { failed: {} }, { sinceUs: at(11) })], old(1), 8 * 86_400)).toBe('')
  })
  test('parallel runs with times of whole seconds differ by their uids', () => {
    const marks = [start(0, { uid: 'a' }), start(0, { uid: 'b' }), end(5, { uid: 'a' }), failed(5, { uid: 'b' })]
    expect(story([FAILED], marks, 10)).toBe('failed@5')
  })
  test('what is sent twice counts once', () => {
    const marks = [start(0), failed(10)]
    expect(story([watchOf('w', { failed: { after: 2 } })], [...marks, ...marks.map((it) => later(20, it))], 30)).toBe(
      '',
    )
  })
  test('a run is abandoned after MAX_RUN, and its long fires until its next mark', () => {
    const desk = openDesk({ watches: [FAILED, watchOf('long', { long: '1h' })] })
    desk.apply(start(0))
    desk.advance(T0 + DAY + S)
    expect(desk.story()).toBe('long@3600 failed@86400')
    desk.apply(end(90_000))
    expect(desk.story()).toBe('long@3600 failed@86400 long ends@90000')
  })
  test('a start that another one follows is no failure', () => {
    expect(story([FAILED], [start(0), start(10), end(20)], 3 * 86_400)).toBe('')
  })
  test('an exception fires, and not the run that raised it but the next one ends it', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { exceptions: true } })] })
    desk.apply(start(0, { uid: 'a' }))
    const exception = { process: 'job', meta: '', uid: 'a', headline: 'ValueError: no rows' }
    desk.judge.applyException(ACCOUNT, { ...exception, atUs: at(1), arrivedUs: at(1), isIgnored: true })
    expect(desk.story()).toBe('')
    desk.judge.applyException(ACCOUNT, { ...exception, atUs: at(2), arrivedUs: at(2) })
    desk.apply(end(3, { uid: 'a' }), start(4), end(5))
    expect(desk.story()).toBe('failed@2 failed ends@5')
    expect(desk.pending()[0]).toMatchObject({
      facts: { exception: 'ValueError: no rows' },
      alert: { episode: { startedUs: at(0) } },
    })
  })
  test('the reason of a failed run is an exception that belongs to it, by the rule that all pages have', () => {
    const reasonOf = (uid: string, raisedS: number, marks: readonly Mark[], runUid = 'a') => {
      const desk = openDesk({ watches: [FAILED] })
      const isBefore = (mark: Mark) => mark.atUs <= at(raisedS)
      desk.apply(...marks.filter(isBefore))
      raised(desk, { atUs: at(raisedS), arrivedUs: at(raisedS), ...(uid !== '' && { uid }) })
      desk.apply(...marks.filter((mark) => !isBefore(mark)))
      const opened = desk.pending().find(({ alert }) => alert.episode.uid === (runUid === '' ? undefined : runUid))
      return opened?.facts.exception
    }
    const own = { uid: 'a' }
    expect(reasonOf('a', 5, [start(0, own), failed(9, own)])).toBe('Error: x')
    expect(reasonOf('', 5, [start(0, own), failed(9, own)])).toBe('Error: x')
    // it was raised before the start of this run, by the one before, or by nobody's run
    expect(reasonOf('a', 5, [start(6, own), failed(9, own)])).toBeUndefined()
    expect(reasonOf('a', 5, [start(0, own), end(3, own), start(6, own), failed(9, own)])).toBeUndefined()
    // it belongs to a run that has its uid, not to one without
    expect(reasonOf('b', 5, [start(0), failed(9)], '')).toBeUndefined()
    // without a uid: the newest of those that were open
    const other = { uid: 'b' }
    expect(reasonOf('', 5, [start(0, own), start(2, other), failed(9, own)])).toBeUndefined()
    expect(reasonOf('', 5, [start(0, other), start(2, own), failed(9, own)])).toBe('Error: x')
  })
  test('the exception of a failed run may arrive a second after its end', () => {
    const desk = openDesk({ watches: [FAILED] })
    desk.apply(start(0, { uid: 'a' }), failed(3, { uid: 'a' }))
    expect(desk.pending()).toMatchObject([{ kind: 'open', awaitsUs: 1e6 }])
    const exception = { process: 'job', meta: '', uid: 'a', headline: 'Error: late', atUs: at(3) }
    desk.judge.applyException(ACCOUNT, { ...exception, arrivedUs: at(3.5) })
    expect(desk.pending()[1]).toMatchObject({ kind: 'explain', facts: { exception: 'Error: late' } })
  })
  test('the same exception that is sent again is one failure, also after the next success', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { after: 2, exceptions: true } })] })
    const raise = (seconds: number, arrived: number, headline = 'Error: x') =>
      raised(desk, { headline, atUs: at(seconds), arrivedUs: at(arrived) })
    raise(10, 10)
    raise(10, 12)
    expect(desk.story()).toBe('')
    desk.commit()
    desk.kill()
    raise(10, 13)
    expect(desk.story()).toBe('')
    raise(10, 14, 'Error: another of the same time')
    expect(desk.story()).toBe('failed@10')
    desk.apply(start(20), end(21))
    raise(10, 30)
    expect(desk.story()).toBe('failed@10 failed ends@21')
  })
  test('an exception that is sent again after its row ended makes no alert', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { exceptions: true } })] })
    for (const seconds of [10, 20]) raised(desk, { atUs: at(seconds), arrivedUs: at(seconds) })
    desk.apply(start(30), end(31))
    raised(desk, { atUs: at(20), arrivedUs: at(40) })
    desk.advance(at(200))
    expect(desk.story()).toBe('failed@10 failed ends@31')
  })
  test('a run that failed with its exception is one failure, whichever comes first', () => {
    const twice = watchOf('w', { failed: { after: 2, exceptions: true } })
    const own = { uid: 'a' }
    for (const isFirst of [true, false]) {
      const desk = openDesk({ watches: [twice, watchOf('runs', { failed: { after: 2 } })] })
      desk.apply(start(0, own))
      if (isFirst) raised(desk, { ...own, atUs: at(2), arrivedUs: at(2) })
      desk.apply(failed(3, own))
      if (!isFirst) raised(desk, { ...own, atUs: at(2), arrivedUs: at(4) })
      expect(desk.story()).toBe('')
      desk.commit()
      desk.kill()
      desk.apply(start(10), failed(12))
      expect(desk.story()).toBe('failed@12 failed@12')
      expect(desk.pending().map(({ alert }) => alert.episode.figure)).toEqual([2, 2])
    }
  })
  test('two exceptions of a run are two failures; one of another run, or of before its start, is not of it', () => {
    const twice = watchOf('w', { failed: { after: 2, exceptions: true } })
    const two = openDesk({ watches: [twice] })
    two.apply(start(0, { uid: 'a' }))
    for (const s of [1, 2]) raised(two, { uid: 'a', atUs: at(s), arrivedUs: at(s) })
    expect(two.story()).toBe('failed@2')
    for (const exception of [{ uid: 'b', atUs: at(12) }, { uid: 'a', atUs: at(9) }, { atUs: at(14) }]) {
      const desk = openDesk({ watches: [twice] })
      desk.apply(start(10, { uid: 'a' }), start(11, { uid: 'b' }), failed(13, { uid: 'a' }))
      raised(desk, { ...exception, arrivedUs: at(15) })
      expect(desk.story()).toBe(`failed@${(exception.atUs - T0) / S}`)
    }
  })
  test('an exception without uid belongs to the newest run that was open', () => {
    const twice = watchOf('w', { failed: { after: 2, exceptions: true } })
    for (const [uid, expected] of [
      ['old', 'failed@5'],
      ['new', ''],
    ] as const) {
      const desk = openDesk({ watches: [twice] })
      desk.apply(start(0, { uid: 'old' }), start(1, { uid: 'new' }))
      raised(desk, { atUs: at(2), arrivedUs: at(2) })
      desk.apply(failed(5, { uid }))
      expect(desk.story()).toBe(expected)
    }
  })
  test('with exceptions, a completed run that began before the last exception leaves the row as it is', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { after: 3, exceptions: true } })] })
    desk.apply(start(0), failed(1), start(2, { uid: 'b' }))
    raised(desk, { atUs: at(3), arrivedUs: at(3), uid: 'c' })
    desk.apply(end(4, { uid: 'b' }), start(5), failed(6))
    expect(desk.story()).toBe('failed@6')
    expect(desk.pending()[0]!.alert.episode.figure).toBe(3)
  })
  test('after an end by hand it counts again', () => {
    const desk = openDesk({ watches: [watchOf('w', { failed: { after: 2 } })] })
    desk.apply(start(0), failed(1), start(2), failed(3))
    desk.endByHand('["failed","job",""]', at(4))
    desk.apply(start(5), failed(6))
    expect(desk.story()).toBe('failed@3')
    desk.apply(start(7), failed(8))
    expect(desk.story()).toBe('failed@3 failed@8')
  })
})
