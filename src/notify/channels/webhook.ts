// A webhook: JSON, signed as Standard Webhooks (standardwebhooks.com) says: an id that stays the same over retries, the
// time of sending, and an HMAC-SHA-256 over both and the body.
import { createHmac } from 'node:crypto'
import type { StoredChannel } from '../notification.ts'
import { type ChannelKindSender, JSON_TYPE } from './channel-kind.ts'

/** Headers that the request itself needs. */
const OURS = /^(host|content-length|content-type|transfer-encoding|connection|expect|te|upgrade|webhook-.*)$/i

const headersOf = ({ settings: { members } }: StoredChannel): Readonly<Record<string, string>> =>
  typeof members.headers === 'object' ? members.headers : {}

export const webhook: ChannelKindSender = {
  rate: { burst: 200, everyS: 0.1 },
  grouping: 'each',
  atOnce: 8, // a receiver that takes 3 s would get 20 a minute
  faults: (channel) =>
    Object.keys(headersOf(channel))
      .filter((name) => OURS.test(name))
      .map((name) => ({ pointer: `/headers/${name}`, detail: 'is set by Stint' })),
  send({ channel, id, bodies }, { post, nowUs }) {
    const { facts: _, ...body } = bodies[0]!
    const text = JSON.stringify(body)
    const lower = Object.entries(headersOf(channel)).map(([name, value]) => [name.toLowerCase(), value])
    const { former } = channel.settings
    const secrets = [channel.secret ?? '', ...(former !== undefined && nowUs < former.untilUs ? [former.secret] : [])]
    const signed = signWebhook(secrets, id, nowUs, text)
    return post(channel.target, { ...JSON_TYPE, ...Object.fromEntries(lower), ...signed }, text)
  },
}

/** `secrets` are `whsec_` and base64: while one replaces the other, a receiver may know either. */
function signWebhook(secrets: readonly string[], id: string, nowUs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowUs / 1e6))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
