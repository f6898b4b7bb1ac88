// What waits for a silent node: as a history of the judge, with the heartbeats of one other node.
import { expect, test } from 'bun:test'
import type { Downtime } from '../../../src/watch/log/episode.ts'
import type { Mark } from '../../../src/watch/log/judge-interface.ts'
import { createSilentNodes, returned } from '../../../src/watch/nodes/silent-nodes.ts'
import { MIN, markOf, openDesk, S, T0, watchOf } from '../log/judge-kit.ts'

const at = (seconds: number) => T0 + seconds * S
const DAILY = watchOf('daily', { late: { cron: '10 0 * * *', grace: '1m' }, long: '5m' })

/** Another node that has handed over everything until `knownUs`. */
function openNode(desk: ReturnType<typeof openDesk>) {
  let isSilent = false
  let now = T0
  const node = { node: 2, seenUs: at(605), knownUs: at(604) }
  const engine = {
    addDowntime: (it: Downtime) => desk.judge.addDowntime(it),
    hurryAll: () => desk.change([DAILY]),
  }
  const nodes = createSilentNodes(
    () => [{ ...node, isSilent }],
    () => now,
    engine,
  )
  return (seconds: number, silent: boolean) => {
    isSilent = silent
    now = at(seconds)
    nodes.notice()
  }
}

test('what was due is judged when the node is back and has handed over, and says nothing about it', () => {
  const desk = openDesk({ watches: [DAILY] })
  const hear = openNode(desk)
  desk.advance(at(604))
  hear(616, true)
  desk.advance(at(690))
  expect(desk.judge.waiting()).toMatchObject([{ condition: 'late', judgedAtUs: at(605) + 10 * MIN }])
  hear(700, false)
  desk.advance(at(700))
  expect(desk.story()).toBe('')
  desk.advance(at(701))
  expect(desk.story()).toBe('late@660')
})

test('a start that the node held keeps it quiet', () => {
  const desk = openDesk({ watches: [DAILY] })
  const hear = openNode(desk)
  desk.advance(at(604))
  hear(616, true)
  desk.advance(at(690))
  hear(700, false)
  desk.apply({ ...markOf('start', at(605)), arrivedUs: at(690) }, { ...markOf('end', at(660)), arrivedUs: at(690) })
  desk.advance(at(2000))
  expect(desk.story()).toBe('')
})

test('a judge that takes over while it is back forgets nothing that waited, and repeats nothing', () => {
  const desk = openDesk({ watches: [DAILY] })
  const hear = openNode(desk)
  desk.apply(markOf('start', at(310), { uid: 'hangs' }))
  hear(616, true)
  desk.advance(at(690))
  desk.commit()
  desk.kill()
  desk.judge.addDowntime(returned(2, at(604), at(700)))
  desk.advance(at(700))
  expect(desk.story()).toBe('')
  desk.advance(at(701))
  expect(desk.story()).toBe('late@660 long@610')
  desk.commit()
  desk.kill()
  desk.advance(at(702))
  expect(desk.story()).toBe('late@660 long@610')
})

const run = (uid: string, from: number, to: number) => [
  markOf('start', at(from), { uid }),
  markOf('end', at(to), { uid }),
]
/** Silent from 604 on, back at 700; everything arrives at the other node. */
function judgeSilence(isKilled: boolean, during: readonly Mark[], returned: readonly Mark[] = []): string {
  const desk = openDesk({ watches: [DAILY] })
  const hear = openNode(desk)
  desk.apply(...during.filter(({ arrivedUs }) => arrivedUs < at(616)))
  hear(616, true)
  desk.apply(...during.filter(({ arrivedUs }) => arrivedUs >= at(616)))
  desk.advance(at(690))
  expect(desk.story()).toBe('')
  desk.commit()
  hear(700, false)
  if (isKilled) {
    desk.kill()
    hear(616, true)
    hear(700, false)
  }
  desk.apply(...returned)
  desk.advance(at(701))
  return desk.story()
}

test('a run that exceeded its limit and ended while a node was silent fires when the node is back', () => {
  for (const isKilled of [false, true]) {
    const marks = [...run('a', 310, 650), ...run('b', 320, 619), ...run('c', 330, 640), markOf('start', at(655))]
    expect(
      judgeSilence(
        isKilled,
        marks.sort((a, b) => a.atUs - b.atUs),
      ),
    ).toBe('long@630–640 long@610–650')
  }
})

test('an earlier mark of its uid that the silent node held keeps it quiet', () => {
  const marks = [...run('a', 310, 650), markOf('start', at(655), { uid: 'b' })]
  const held = { ...markOf('end', at(606), { uid: 'a' }), arrivedUs: at(690) }
  expect(judgeSilence(false, marks, [held])).toBe('')
  const tooLate = { ...held, atUs: at(615) }
  expect(judgeSilence(false, marks, [tooLate])).toBe('long@610–615')
})

test('a start that came after its due time, while a node was silent, fires when the node is back', () => {
  for (const isKilled of [false, true]) {
    expect(judgeSilence(isKilled, run('a', 670, 675))).toBe('late@660–670')
    const inTime = { ...markOf('start', at(650), { uid: 'b' }), arrivedUs: at(690) }
    expect(judgeSilence(isKilled, run('a', 670, 675), [inTime])).toBe('')
  }
})
