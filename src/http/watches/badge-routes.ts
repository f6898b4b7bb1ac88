// The badge of a watch as SVG and its state as JSON, for anyone who knows the address. Unknown and revoked addresses are one 404.
import { Elysia } from 'elysia'
import { Problem } from '../../problem.ts'
import type { Watches } from '../../watch/watches.ts'
import { type BadgeState, SHOW_BADGE } from '../../wire/watches.ts'
import { answerHeaders } from '../answers.ts'
import { describeRoute } from '../docs/describe-route.ts'

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
