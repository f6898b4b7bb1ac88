// The four calls of SPEC.md as Elysia routes with typed bodies. The gate has judged everything before the body.
import { Elysia } from 'elysia'
import type { EventKind } from '../event/event.ts'
import type { EventBody } from '../event/from-body.ts'
import { formatStamp } from '../event/stamp.ts'
import { acceptEvent, type IntakeDeps } from './accept-event.ts'
import { createBodySchemas } from './body-fields.ts'
import { describeIntake } from './describe-intake.ts'
import type { Admission } from './intake-gate.ts'
import { MAX_BODY_BYTES, parseJson, readBytes } from './read-body.ts'

/** What the app's onRequest puts beside Elysia's own context. */
export interface Admitted {
  readonly admission: Admission
}

const CREATED = { status: 201, headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } }

export const V1_KINDS: Readonly<Record<string, EventKind>> = {
  '/v1/start': 'start',
  '/v1/end': 'end',
  '/v1/metrics': 'metrics',
  '/v1/exception': 'exception',
}

export function v1Routes(deps: IntakeDeps) {
  const schemaOf = createBodySchemas()
  const routes = new Elysia({ normalize: false })
  for (const [path, kind] of Object.entries(V1_KINDS)) {
    routes.post(
      path,
      async (c) => {
        const { admission } = c as unknown as Admitted
        const stamp = await acceptEvent(kind, c.body as EventBody, admission, deps)
        return new Response(`{"at":"${formatStamp(stamp)}"}`, CREATED)
      },
      {
        parse: async (c) => parseJson(await readBytes(c.request, MAX_BODY_BYTES)),
        body: schemaOf[kind],
        detail: describeIntake(kind),
      },
    )
  }
  return { routes, schemaOf }
}
