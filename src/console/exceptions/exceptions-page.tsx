// The page of exceptions: the groups, or the group that the address names.
import type { OpenPage } from '../kit/page.ts'
import { openPollPage, type Question, type Shown } from '../kit/poll-page.tsx'
import { changeParams } from '../kit/route.ts'
import { readRange } from '../kit/time-range.ts'
import { askGroup, type GroupAnswer, GroupContent, GroupHeading, RANGE } from './group.tsx'
import { askGroups, type GroupsAnswer, GroupsContent, GroupsHeading } from './groups.tsx'

const EVERY_MS = 5_000

interface ExceptionsAnswer {
  readonly groups?: GroupsAnswer
  readonly group?: GroupAnswer
}

const ask = async ({ app, params, signal }: Question<ExceptionsAnswer>): Promise<ExceptionsAnswer> =>
  params.has('group')
    ? { group: await askGroup(app, params, signal) }
    : { groups: await askGroups(app, params, signal) }

type HeadingProps = Omit<Shown<ExceptionsAnswer>, 'answer'> & { readonly answer: ExceptionsAnswer | undefined }

const Heading = ({ answer, ...shown }: HeadingProps) =>
  shown.params.has('group') ? (
    <GroupHeading {...shown} group={answer?.group?.group} />
  ) : (
    <GroupsHeading {...shown} processes={answer?.groups?.processes ?? []} />
  )

const Content = ({ answer: { groups, group }, ...shown }: Shown<ExceptionsAnswer>) => (
  <>
    {groups && <GroupsContent {...shown} answer={groups} />}
    {group && <GroupContent {...shown} answer={group} />}
  </>
)

export const openExceptionsPage: OpenPage = openPollPage<ExceptionsAnswer>({
  className: 'exceptions',
  everyMs: (params) => (readRange(params, 0, RANGE).isLive ? EVERY_MS : 0),
  keyOf: (params) => changeParams(params, {}).toString(),
  subjectOf: (params) => (params.has('group') ? `${params.get('group')} ${params.get('process')}` : ''),
  ask,
  Heading,
  Content,
})
