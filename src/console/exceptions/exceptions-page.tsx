// The page of exceptions: the groups, or the group that the address names.
import { page, type Question } from '../kit/page.tsx'
import { changeParams } from '../kit/route.ts'
import { readRange } from '../kit/time-range.ts'
import { useView } from '../kit/view.tsx'
import { askGroup, type GroupAnswer, GroupContent, GroupHeading, RANGE } from './group.tsx'
import { askGroups, type GroupsAnswer, GroupsContent, GroupsHeading } from './groups.tsx'

const EVERY_MS = 5_000

interface ExceptionsAnswer {
  readonly groups?: GroupsAnswer
  readonly group?: GroupAnswer
}

const ask = async (question: Question<ExceptionsAnswer>): Promise<ExceptionsAnswer> =>
  question.params.has('group') ? { group: await askGroup(question) } : { groups: await askGroups(question) }

const Heading = ({ answer }: { answer: ExceptionsAnswer | undefined }) =>
  useView().params.has('group') ? (
    <GroupHeading group={answer?.group?.group} />
  ) : (
    <GroupsHeading processes={answer?.groups?.processes ?? []} />
  )

const Content = ({ answer: { groups, group } }: { answer: ExceptionsAnswer }) => (
  <>
    {groups && <GroupsContent answer={groups} />}
    {group && <GroupContent answer={group} />}
  </>
)

export const ExceptionsPage = page<ExceptionsAnswer>({
  name: 'exceptions',
  everyMs: (params) => (readRange(params, 0, RANGE).isLive ? EVERY_MS : 0),
  keyOf: (params) => changeParams(params, {}).toString(),
  subjectOf: (params) => (params.has('group') ? `${params.get('group')} ${params.get('process')}` : ''),
  ask,
  Heading,
  Content,
})
