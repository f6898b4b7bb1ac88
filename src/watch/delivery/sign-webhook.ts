// The headers of Standard Webhooks (standardwebhooks.com): an id that stays the same over retries, the time of sending, and an HMAC-SHA-256 over both and the body.
import { createHmac } from 'node:crypto'

/** `secret` is `whsec_` and base64. */
export function signWebhook(secret: string, id: string, nowUs: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(nowUs / 1e6))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
