// Watches, channels and alerts over HTTP, for a session or a key with the scope `manage`.
// Order of checks: key or session (401, 403) → size, content type, JSON, fields (413, 422) → the request itself.
import { Elysia } from 'elysia'
import { checkMeta, checkProcess, nameFault, stripText } from '../../event/fields.ts'
import { type Fault, Problem } from '../../problem.ts'
import type { Watches } from '../../watch/watches.ts'
import * as alertWire from '../../wire/alerts.ts'
import * as channelWire from '../../wire/channels.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../wire/parameters.ts'
import * as wire from '../../wire/watches.ts'
import { type BadgeState, SHOW_BADGE } from '../../wire/watches.ts'
import { answerHeaders, emptyAnswer, jsonAnswer } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'
import { type Rules, readJson } from '../read-json.ts'

export interface WatchRoutesDeps {
  readonly watch: Watches
  /** The account a request may manage. Throws Problem `key_invalid`, `scope_missing`, `rate_limited` or `cross_site`. */
  accountOf(request: Request): Promise<string>
}

const RULES: Rules<wire.CreateWatch> = {
  process: (process) => checkProcess(process)[0]?.detail,
  meta: (meta) => checkMeta(meta)[0]?.detail,
  metric: ({ name }) => nameFault(name),
}

/** Events are stored without certain characters: a watch must not wait for a name that no event can have. */
const stripped = <T extends wire.ChangeWatch>(body: T): T => ({
  ...body,
  ...(typeof body.process === 'string' && { process: stripText(body.process) }),
  ...(typeof body.meta === 'string' && { meta: stripText(body.meta) }),
})

export function watchRoutes({ watch, accountOf }: WatchRoutesDeps) {
  const { watches, channels, alerts } = watch
  return new Elysia({ normalize: false })
    .get(
      wire.LIST_WATCHES.path,
      async ({ request }) =>
        jsonAnswer({ watches: await watches.list(await accountOf(request)) } satisfies wire.Watches),
      describeRoute(wire.LIST_WATCHES),
    )
    .post(
      wire.CREATE_WATCH.path,
      async ({ request }) => {
        const account = await accountOf(request)
        const body = stripped(await readJson(request, wire.CreateWatch, RULES))
        return jsonAnswer({ watch: await watches.create(account, body) } satisfies wire.WatchAnswer, 201)
      },
      describeRoute(wire.CREATE_WATCH),
    )
    .get(
      wire.SHOW_WATCH.path,
      async ({ request, params }) =>
        jsonAnswer({ watch: await watches.show(await accountOf(request), params.id) } satisfies wire.WatchAnswer),
      describeRoute(wire.SHOW_WATCH),
    )
    .patch(
      wire.CHANGE_WATCH.path,
      async ({ request, params }) => {
        const account = await accountOf(request)
        const body = stripped(await readJson(request, wire.ChangeWatch, RULES))
        return jsonAnswer({ watch: await watches.change(account, params.id, body) } satisfies wire.WatchAnswer)
      },
      describeRoute(wire.CHANGE_WATCH),
    )
    .delete(
      wire.DELETE_WATCH.path,
      async ({ request, params }) => {
        await watches.remove(await accountOf(request), params.id)
        return emptyAnswer()
      },
      describeRoute(wire.DELETE_WATCH),
    )
    .post(
      wire.PUBLISH_BADGE.path,
      async ({ request, params }) => {
        const published = await watches.setBadge(await accountOf(request), params.id, true)
        return jsonAnswer({ watch: published } satisfies wire.WatchAnswer)
      },
      describeRoute(wire.PUBLISH_BADGE),
    )
    .delete(
      wire.REVOKE_BADGE.path,
      async ({ request, params }) => {
        await watches.setBadge(await accountOf(request), params.id, false)
        return emptyAnswer()
      },
      describeRoute(wire.REVOKE_BADGE),
    )
    .get(
      channelWire.LIST_CHANNELS.path,
      async ({ request }) =>
        jsonAnswer({ channels: await channels.list(await accountOf(request)) } satisfies channelWire.Channels),
      describeRoute(channelWire.LIST_CHANNELS),
    )
    .post(
      channelWire.CREATE_CHANNEL.path,
      async ({ request }) => {
        const account = await accountOf(request)
        const body = await readJson(request, channelWire.CreateChannel)
        return jsonAnswer({ channel: await channels.create(account, body) } satisfies channelWire.NewChannel, 201)
      },
      describeRoute(channelWire.CREATE_CHANNEL),
    )
    .get(
      channelWire.CONFIRM_CHANNEL.path,
      async ({ request }) => {
        await channels.confirm(new URL(request.url).searchParams.get('token') ?? '')
        return new Response('The address is confirmed.', { headers: { 'content-type': 'text/plain; charset=utf-8' } })
      },
      describeRoute(channelWire.CONFIRM_CHANNEL),
    )
    .get(
      channelWire.SHOW_CHANNEL.path,
      async ({ request, params }) =>
        jsonAnswer({
          channel: await channels.show(await accountOf(request), params.id),
        } satisfies channelWire.ChannelAnswer),
      describeRoute(channelWire.SHOW_CHANNEL),
    )
    .patch(
      channelWire.CHANGE_CHANNEL.path,
      async ({ request, params }) => {
        const account = await accountOf(request)
        const body = await readJson(request, channelWire.ChangeChannel)
        return jsonAnswer({
          channel: await channels.change(account, params.id, body),
        } satisfies channelWire.ChannelAnswer)
      },
      describeRoute(channelWire.CHANGE_CHANNEL),
    )
    .delete(
      channelWire.DELETE_CHANNEL.path,
      async ({ request, params }) => {
        await channels.remove(await accountOf(request), params.id)
        return emptyAnswer()
      },
      describeRoute(channelWire.DELETE_CHANNEL),
    )
    .post(
      channelWire.TEST_CHANNEL.path,
      async ({ request, params }) =>
        jsonAnswer({
          detail: await channels.test(await accountOf(request), params.id),
        } satisfies channelWire.TestAnswer),
      describeRoute(channelWire.TEST_CHANNEL),
    )
    .get(
      alertWire.LIST_ALERTS.path,
      async ({ request }) => {
        const account = await accountOf(request)
        const page = parseAlertsQuestion(new URL(request.url).searchParams)
        return jsonAnswer((await alerts.list(account, page)) satisfies alertWire.AlertPage)
      },
      describeRoute(alertWire.LIST_ALERTS),
    )
    .post(
      alertWire.DISMISS_ALERT.path,
      async ({ request, params }) =>
        jsonAnswer({
          alert: await alerts.dismiss(await accountOf(request), params.id),
        } satisfies alertWire.AlertAnswer),
      describeRoute(alertWire.DISMISS_ALERT),
    )
}

/** Throws Problem `question_invalid`. */
function parseAlertsQuestion(search: URLSearchParams) {
  const errors: Fault[] = []
  const { state, limit, cursor, ...unknown } = Object.fromEntries(search) as Record<string, string | undefined>
  const isState = (text: string | undefined) => alertWire.ALERT_STATES.find((it) => it === text)
  const isLimit = limit === undefined || (/^[1-9]\d{0,3}$/.test(limit) && Number(limit) <= MAX_LIMIT)
  if (state !== undefined && isState(state) === undefined)
    errors.push({ pointer: '/state', detail: 'must be firing or resolved' })
  if (!isLimit) errors.push({ pointer: '/limit', detail: `must be a whole number from 1 to ${MAX_LIMIT}` })
  if (cursor !== undefined && !/^ale_\w{1,40}$/.test(cursor))
    errors.push({ pointer: '/cursor', detail: 'is not a cursor of this question' })
  for (const name of Object.keys(unknown))
    errors.push({
      pointer: `/${name}`,
      detail: 'is not a parameter of this question, which takes state, limit, cursor',
    })
  if (errors.length > 0)
    throw new Problem('question_invalid', 'The parameters of the question are incorrect.', { errors })
  const known = isState(state)
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
    ...(known && { state: known }),
    ...(cursor !== undefined && { cursor }),
  }
}

// The badge of a watch as SVG and its state as JSON, for anyone who knows the address. Unknown and revoked addresses are one 404.
const COLORS = { ok: '#2f855a', firing: '#c53030', paused: '#718096', unknown: '#718096' } as const
const CACHE = { 'cache-control': 'no-cache', 'cross-origin-resource-policy': 'cross-origin' }
const SVG_HEADERS = answerHeaders({
  ...CACHE,
  'content-type': 'image/svg+xml',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
})
const JSON_HEADERS = answerHeaders({ ...CACHE, 'content-type': 'application/json', 'access-control-allow-origin': '*' })

export function badgeRoutes({ watch }: { readonly watch: Pick<Watches, 'watches'> }) {
  return new Elysia({ normalize: false }).get(
    SHOW_BADGE.path,
    async ({ params }) => {
      const [, token, form] = /^([\w-]{43})\.(svg|json)$/.exec(params.name) ?? []
      const state = token === undefined ? undefined : await watch.watches.badge(token)
      if (state === undefined) throw new Problem('not_found', 'There is no badge at this address.')
      return form === 'svg'
        ? new Response(drawBadge(state), { headers: SVG_HEADERS })
        : new Response(JSON.stringify(state satisfies BadgeState), { headers: JSON_HEADERS })
    },
    describeRoute(SHOW_BADGE),
  )
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function drawBadge({ name, state, firing }: BadgeState): string {
  const right = state === 'firing' && firing > 1 ? `${firing} firing` : state
  const width = (text: string) => Math.round([...text].length * 6.6 + 14)
  const [left, all] = [width(name), width(name) + width(right)]
  const title = escapeXml(`${name}: ${right}`)
  const text = (x: number, label: string) => `<text x="${x}" y="14" text-anchor="middle">${escapeXml(label)}</text>`
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${all}" height="20" role="img" aria-label="${title}"><title>${title}</title>` +
    `<rect width="${all}" height="20" rx="3" fill="#4a5568"/><rect x="${left}" width="${all - left}" height="20" rx="3" fill="${COLORS[state]}"/>` +
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(left / 2, name)}${text((left + all) / 2, right)}</g></svg>`
  )
}
