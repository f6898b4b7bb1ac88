// Watches, channels, maintenances and alerts over HTTP, for a session or a key with the scope `manage`.
import { checkMeta, checkProcess, nameFault, stripText } from '../../event/fields.ts'
import type { AskOverview, CoveredState } from '../../live/overview/overview.ts'
import { Problem } from '../../problem.ts'
import { createMatch, isPattern } from '../../process/process-pattern.ts'
import type { Parsed } from '../../query/parameters.ts'
import { parseParameters } from '../../query/question.ts'
import type { StoredWatch } from '../../watch/watch.ts'
import type { Watches } from '../../watch/watches.ts'
import * as alertWire from '../../wire/alerts.ts'
import * as channelWire from '../../wire/channels.ts'
import * as maintenanceWire from '../../wire/maintenance.ts'
import { DEFAULT_LIMIT } from '../../wire/parameters.ts'
import { PREVIEW_WATCH } from '../../wire/watch-preview.ts'
import * as wire from '../../wire/watches.ts'
import { answerHeaders } from '../answers.ts'
import type { AuthorizeDeps, NameOf } from '../authorize.ts'
import type { Mounts } from '../mount.ts'
import type { Rules } from '../read-json.ts'
import { mountLinkPages } from './link-pages.ts'

const PROCESS_RULE = { process: (process: string) => checkProcess(process)[0] }
const RULES: Rules<Pick<wire.CreateWatch, 'process' | 'meta' | 'metric'>> = {
  ...PROCESS_RULE,
  meta: (meta) => checkMeta(meta)[0],
  metric: ({ name }) => nameFault(name),
}

/** Events are stored without certain characters: a watch must not wait for a name that no event can have. */
const stripped = <T extends { readonly process?: string; readonly meta?: string | null }>(body: T): T => ({
  ...body,
  ...(typeof body.process === 'string' && { process: stripText(body.process) }),
  ...(typeof body.meta === 'string' && { meta: stripText(body.meta) }),
})

export function mountWatches(
  mounts: Mounts,
  { watches, preview, channels, maintenance, alerts }: Watches,
  nameOf: NameOf,
  overview: Pick<AskOverview, 'describe'>,
  disputedBy: AuthorizeDeps['disputedBy'],
): void {
  const { on, onAnyone } = mounts
  on(wire.LIST_WATCHES, async ({ account }, { request }) => {
    const { process } = parseParameters(wire.LIST_WATCHES, new URL(request.url).searchParams)
    const all = await watches.list(account)
    return { watches: process === undefined ? all : all.filter((watch) => createMatch(watch.process)(process)) }
  })
  on(wire.CREATE_WATCH, RULES, async ({ account }, { body }) => ({
    watch: await watches.create(account, stripped(body)),
  }))
  on(PREVIEW_WATCH, RULES, ({ account }, { body }) => preview(account, stripped(body)))
  on(wire.SHOW_WATCH, async ({ account }, { params }) => ({ watch: await watches.show(account, params.id) }))
  on(wire.CHANGE_WATCH, RULES, async ({ account }, { params: { id }, body, noted }) => {
    const before = await watches.show(account, id)
    const watch = await watches.change(account, id, stripped(body))
    noted.detail = describeChange(watch.name, body, before, watch)
    return { watch }
  })
  on(wire.DELETE_WATCH, async ({ account }, { params, noted }) => {
    noted.detail = (await watches.remove(account, params.id)).name
  })
  on(wire.PUBLISH_BADGE, async ({ account }, { params }) => ({
    watch: await watches.setBadge(account, params.id, true),
  }))
  on(wire.REVOKE_BADGE, async ({ account }, { params }) => {
    await watches.setBadge(account, params.id, false)
  })

  on(channelWire.LIST_CHANNELS, async ({ account, role }) => ({
    channels: await channels.list(account, role),
    email: channels.hasEmail,
  }))
  on(channelWire.CREATE_CHANNEL, ({ account }, { body, request }) => {
    const { test } = parseParameters(channelWire.CREATE_CHANNEL, new URL(request.url).searchParams)
    return channels.create(account, body, test === 'true')
  })
  on(channelWire.SHOW_CHANNEL, async ({ account, role }, { params }) => ({
    channel: await channels.show(account, params.id, role),
  }))
  on(channelWire.CHANGE_CHANNEL, async ({ account }, { params: { id }, body, noted }) => {
    const before = await channels.show(account, id, 'viewer')
    const changed = await channels.change(account, id, body)
    const after = await channels.show(account, id, 'viewer')
    noted.detail = describeChange(after.name, body, before, after)
    return changed
  })
  on(channelWire.DELETE_CHANNEL, async ({ account }, { params, noted }) => {
    noted.detail = (await channels.remove(account, params.id)).name
  })
  on(channelWire.REPLACE_SECRET, ({ account }, { params }) => channels.replaceSecret(account, params.id))
  on(channelWire.TEST_CHANNEL, async ({ account }, { params }) => ({ detail: await channels.test(account, params.id) }))

  on(maintenanceWire.LIST_MAINTENANCE, async ({ account }) => ({ maintenance: await maintenance.list(account) }))
  on(maintenanceWire.CREATE_MAINTENANCE, PROCESS_RULE, async ({ account }, { body }) => ({
    maintenance: await maintenance.create(account, stripped(body)),
  }))
  on(maintenanceWire.SHOW_MAINTENANCE, async ({ account }, { params }) => ({
    maintenance: await maintenance.show(account, params.id),
  }))
  on(maintenanceWire.CHANGE_MAINTENANCE, PROCESS_RULE, async ({ account }, { params: { id }, body, noted }) => {
    const before = await maintenance.show(account, id)
    const after = await maintenance.change(account, id, stripped(body))
    noted.detail = describeChange(after.process, body, before, after)
    return { maintenance: after }
  })
  on(maintenanceWire.DELETE_MAINTENANCE, async ({ account }, { params, noted }) => {
    noted.detail = (await maintenance.remove(account, params.id)).process
  })

  on(alertWire.LIST_ALERTS, ({ account }, { request }) => {
    const question = parseParameters(alertWire.LIST_ALERTS, new URL(request.url).searchParams, ALERT_PARSERS)
    return alerts.list(account, { limit: DEFAULT_LIMIT, ...question })
  })
  on(alertWire.ACKNOWLEDGE_ALERT, async (asker, { params }) => ({
    alert: await alerts.acknowledge(asker.account, params.id, await nameOf(asker)),
  }))
  on(alertWire.UNACKNOWLEDGE_ALERT, async ({ account }, { params }) => ({
    alert: await alerts.undoAcknowledge(account, params.id),
  }))
  for (const route of [alertWire.RESOLVE_ALERT, alertWire.DISMISS_ALERT] as const)
    on(route, async (asker, { params }) => ({
      alert: await alerts.resolve(asker.account, params.id, await nameOf(asker)),
    }))

  mountLinkPages(mounts, channels.links)
  onAnyone(wire.SHOW_BADGE, async (_, { params }) => {
    const [, token, form] = /^([\w-]{43})\.(svg|json)$/.exec(params.name) ?? []
    const found = token === undefined ? undefined : await watches.badge(token)
    // who made it may be the stranger
    if (found === undefined || disputedBy(found.watch.account) !== undefined)
      throw new Problem('not_found', 'There is no badge at this address.')
    const { watch, state, firing } = found
    const { name } = watch.spec
    const covered = await describeCovered(watch, overview)
    if (form === 'svg') {
      const [right, color] = covered === undefined ? [state, COLORS[state]] : [covered.short, TONE_COLORS[covered.tone]]
      return new Response(drawBadge(name, right, color), { headers: SVG_HEADERS })
    }
    const shown: wire.BadgeState = { name, state, firing, sentence: covered?.sentence ?? '' }
    return new Response(JSON.stringify(shown), { headers: JSON_HEADERS })
  })
}

/** Undefined also while a store is away that has not answered yet. */
async function describeCovered(
  { account, spec: { process, meta } }: StoredWatch,
  overview: Pick<AskOverview, 'describe'>,
): Promise<CoveredState | undefined> {
  try {
    return await overview.describe(account, {
      ...(!isPattern(process) && { process }),
      covers: createMatch(process),
      meta,
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return undefined
  }
}

const ALERT_PARSERS = {
  cursor: (text: string): Parsed<string> =>
    /^ale_\w{1,40}$/.test(text) ? { value: text } : { detail: 'is not a cursor of this question' },
}

// A watch's badge as SVG and what it says as JSON, for anyone with the address. Unknown and revoked ones are one 404.
const COLORS = { ok: '#2f855a', firing: '#c53030', paused: '#718096', unknown: '#718096' } as const
const TONE_COLORS = { good: '#2f855a', warn: '#b7791f', bad: '#c53030' } as const
const CACHE = { 'cache-control': 'no-cache', 'cross-origin-resource-policy': 'cross-origin' }
const SVG_HEADERS = answerHeaders({
  ...CACHE,
  'content-type': 'image/svg+xml',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
})
const JSON_HEADERS = answerHeaders({ ...CACHE, 'content-type': 'application/json', 'access-control-allow-origin': '*' })

function drawBadge(name: string, right: string, color: string): string {
  const width = (text: string) => Math.round([...text].length * 6.6 + 14)
  const [left, all] = [width(name), width(name) + width(right)]
  const title = Bun.escapeHTML(`${name}: ${right}`)
  const text = (x: number, label: string) =>
    `<text x="${x}" y="14" text-anchor="middle">${Bun.escapeHTML(label)}</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${all}" height="20" role="img" ` +
    `aria-label="${title}"><title>${title}</title>` +
    `<rect width="${all}" height="20" rx="3" fill="#4a5568"/><rect x="${left}" width="${all - left}" height="20" ` +
    `rx="3" fill="${color}"/>` +
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" ' +
    `font-size="11">${text(left / 2, name)}${text((left + all) / 2, right)}</g></svg>`
  )
}

// A change of a watch for the audit log: each member of the body with its value before and after.

const SHOWN_MAX = 80

/** `pager: name on call → pager, enabled → false`. What only the sender may see is named without its value. */
function describeChange(name: string, sent: object, before: object, after: object): string {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const texts = Object.entries(sent).map(([member, value]) => {
    const [from, to] = [old, now].map((of) => (of.has(member) ? wordOf(of.get(member)) : undefined))
    if (from === undefined && typeof value === 'boolean') return `${member} → ${value}`
    return from === undefined || to === undefined || from === to ? member : `${member} ${from} → ${to}`
  })
  return `${name}: ${texts.join(', ')}`
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : cut(value.map(wordOf).join(' and '))
  if (typeof value !== 'object') return cut(String(value))
  const parts = Object.entries(value).filter(([, part]) => part !== null && part !== undefined)
  return cut(`(${parts.map(([member, part]) => `${member} ${wordOf(part)}`).join(', ')})`)
}

const cut = (text: string): string => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
