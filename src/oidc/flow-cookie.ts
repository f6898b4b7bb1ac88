// The cookie of a sign-in at the provider: what must come back, and where to go on. Signed with a key from the client
// secret, which all nodes have; good for ten minutes.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Secret, textOf } from '../secret.ts'
import type { Attempt } from './provider.ts'

interface Flow extends Attempt {
  /** A path of this Stint. */
  readonly returnTo: string
  /** ms since the epoch. */
  readonly begunMs: number
}

export const FLOW_MAX_S = 600
const SKEW_MS = 60_000

export function createFlowCookie(secret: Secret) {
  const sign = (text: string) =>
    createHmac('sha256', `stint sign-in ${textOf(secret)}`)
      .update(text)
      .digest()
  return {
    write(flow: Flow): string {
      const text = Buffer.from(JSON.stringify(flow)).toString('base64url')
      return `${text}.${sign(text).toString('base64url')}`
    },
    /** Undefined when it was not written here, or too long ago. */
    read(value: string, nowMs: number): Flow | undefined {
      const [text = '', mac = ''] = value.split('.')
      const [given, own] = [Buffer.from(mac, 'base64url'), sign(text)]
      if (given.length !== own.length || !timingSafeEqual(given, own)) return undefined
      const flow = JSON.parse(Buffer.from(text, 'base64url').toString()) as Flow
      const ageMs = nowMs - flow.begunMs
      return ageMs <= FLOW_MAX_S * 1000 && ageMs >= -SKEW_MS ? flow : undefined
    },
  }
}

export type FlowCookie = ReturnType<typeof createFlowCookie>
