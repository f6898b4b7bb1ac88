// What waits for a silent node: as a history of the judge, with the heartbeats of one other node.
import { expect, test } from 'bun:test'
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
    addDowntime: desk.judge.addDowntime,
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
  expect(desk.story()).toBe('late@660 long@700')
  desk.commit()
  desk.kill()
  desk.advance(at(702))
  expect(desk.story()).toBe('late@660 long@700')
})
