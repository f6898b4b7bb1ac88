// Microsoft Teams by a workflow "When a Teams webhook request is received", which posts an adaptive card:
// https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
import { describe, escapeMarkdown } from '../delivery/notification-text.ts'
import { type ChannelKindSender, isFiring, JSON_TYPE, PEOPLE } from './channel-kind.ts'

/** A message holds 28 KB. */
const TEXT = 8000
const VALUE = 1000

export const teams: ChannelKindSender = {
  ...PEOPLE,
  send({ channel, bodies }, { post }) {
    const { title, lines, facts, url } = describe(bodies)
    const color = isFiring(bodies) ? 'Attention' : 'Good'
    const text = (content: string, more = {}) => ({ type: 'TextBlock', text: content, wrap: true, ...more })
    const card = {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      msteams: { width: 'Full' },
      body: [
        text(escapeMarkdown(title), { weight: 'Bolder', size: 'Medium', color }),
        ...(lines.length > 0 ? [text(lines.map(escapeMarkdown).join('\n\n').slice(0, TEXT))] : []),
        {
          type: 'FactSet',
          facts: facts.map(([name, value]) => ({ title: name, value: escapeMarkdown(value).slice(0, VALUE) })),
        },
      ].filter((block) => !('facts' in block) || facts.length > 0),
      ...(url !== '' && { actions: [{ type: 'Action.OpenUrl', title: 'Open in Stint', url }] }),
    }
    const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: card }
    return post(channel.target, JSON_TYPE, JSON.stringify({ type: 'message', attachments: [attachment] }))
  },
}
