// Renders a notification, or a digest of several, as subject line, plain text, HTML and Slack's mrkdwn.
import type { NotificationBody } from '../notification.ts'

/** The number of notifications that a digest lists individually. */
const LISTED = 30

const LABELS = {
  'alert.firing': 'Firing',
  'alert.resolved': 'Resolved',
  'alert.reminder': 'Still firing',
  test: 'Test',
} as const satisfies Record<NotificationBody['type'], string>

const line = ({ type, data }: NotificationBody): string => `${LABELS[type]}: ${data.summary}`

/** In one line without control characters, because it is used in headers. */
export function toSubject(bodies: readonly NotificationBody[]): string {
  const [first] = bodies
  const text = bodies.length === 1 ? `[Stint] ${line(first!)}` : `[Stint] ${countStates(bodies)}`
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, 200)
}

function countStates(bodies: readonly NotificationBody[]): string {
  return Object.entries(LABELS)
    .map(([type, label]) => [bodies.filter((body) => body.type === type).length, label.toLowerCase()] as const)
    .filter(([count]) => count > 0)
    .map(([count, label]) => `${count} ${label}`)
    .join(', ')
}

const more = (bodies: readonly NotificationBody[]): string =>
  bodies.length > LISTED ? `… and ${bodies.length - LISTED} more` : ''

export function toText(bodies: readonly NotificationBody[]): string {
  if (bodies.length > 1) return [...bodies.slice(0, LISTED).map(line), more(bodies)].join('\n').trimEnd()
  const { data, facts } = bodies[0]!
  const rows = facts.map(([label, value]) => `${label}: ${value}`)
  return [line(bodies[0]!), '', ...rows, ...(data.url === '' ? [] : ['', data.url])].join('\n')
}

/** Other texts of mails: lines stay, and the address becomes a link. */
export const linkedHtml = (text: string, url: string): string =>
  Bun.escapeHTML(text)
    .replace(Bun.escapeHTML(url), (link) => `<a href="${link}">${link}</a>`)
    .replaceAll('\n', '<br>')

export function toHtml(bodies: readonly NotificationBody[]): string {
  const cell = 'style="padding:2px 16px 2px 0;text-align:left;vertical-align:top"'
  if (bodies.length > 1) {
    const items = bodies.slice(0, LISTED).map((body) => `<li>${linked(body, Bun.escapeHTML(line(body)))}</li>`)
    return `<ul>${items.join('')}</ul><p>${more(bodies)}</p>`
  }
  const [body] = bodies
  const rows = body!.facts.map(
    ([label, value]) =>
      `<tr><th ${cell}>${Bun.escapeHTML(label)}</th><td ` +
      `${cell}>${Bun.escapeHTML(value).replaceAll('\n', '<br>')}</td></tr>`,
  )
  const link = body!.data.url === '' ? '' : `<p>${linked(body!, 'Open in Stint')}</p>`
  return `<p><strong>${Bun.escapeHTML(line(body!))}</strong></p><table>${rows.join('')}</table>${link}`
}

export function toMrkdwn(bodies: readonly NotificationBody[]): string {
  const lines = bodies.slice(0, LISTED).map((body) => {
    const { data, type } = body
    const text = `*${LABELS[type]}*: ${escapeMrkdwn(data.summary)}`
    return data.url === '' ? text : `${text} <${data.url}|Open>`
  })
  const [first] = bodies
  const facts = bodies.length > 1 ? [] : first!.facts.filter(([label]) => IN_SHORT.includes(label))
  return [...lines, ...facts.map(([label, value]) => `${label}: ${escapeMrkdwn(value)}`), more(bodies)]
    .join('\n')
    .trimEnd()
}

/** The facts that short messages hold, too. */
const IN_SHORT = ['Exception', 'Usually']

const linked = ({ data }: NotificationBody, html: string): string =>
  data.url === '' ? html : `<a href="${Bun.escapeHTML(data.url)}">${html}</a>`

/** The parts of a message for services that lay out title, list and facts themselves. */
export function describe(bodies: readonly NotificationBody[]) {
  const [first] = bodies
  const isOne = bodies.length === 1
  return {
    title: isOne ? line(first!) : toSubject(bodies).replace('[Stint] ', ''),
    lines: isOne ? [] : [...bodies.slice(0, LISTED).map(line), more(bodies)].filter((text) => text !== ''),
    facts: isOne ? first!.facts : [],
    url: first!.data.url,
  }
}

/** Escapes the Markdown of Discord and Teams: names are no links and no emphasis. */
export const escapeMarkdown = (text: string): string => text.replace(/[\\`*_~|[\]()<>#@-]/g, '\\$&')

/** Escapes Slack's mentions and links. Emphasis by * and _ is harmless, and escaping it would change the name. */
const escapeMrkdwn = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
