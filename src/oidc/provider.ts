// The only file that knows openid-client: the authorization code flow with PKCE, state and nonce (OpenID Connect Core
// 3.1). The ID token's signature is checked although it comes by TLS, with keys read for each sign-in: a rotation needs
// no restart.
import * as client from 'openid-client'
import { type Secret, textOf } from '../secret.ts'

interface ProviderOptions {
  /** An `http:` one is on a loopback address. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
}

/** The values that a sign-in must bring back. */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  /** PKCE (RFC 7636). */
  readonly verifier: string
}

/** The provider's statement of who has signed in. */
interface Proof {
  readonly issuer: string
  readonly subject: string
  readonly email?: string
  readonly isEmailVerified: boolean
  readonly claims: Readonly<Record<string, unknown>>
}

const MESSAGES = {
  unavailable: 'the identity provider is not available',
  misconfigured: 'the identity provider refuses OIDC_CLIENT_ID or OIDC_CLIENT_SECRET: check both',
  refused: 'the provider did not confirm',
}

/**
 * `unavailable`: the provider cannot be reached or is set up wrongly; `misconfigured`: it does not accept this Stint;
 * `refused`: it did not confirm the sign-in.
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  constructor(
    readonly kind: keyof typeof MESSAGES,
    options: ErrorOptions,
  ) {
    super(MESSAGES[kind], options)
  }
}

const TIMEOUT_S = 10
/** Clocks of two machines differ. */
const CLOCK_TOLERANCE_S = 60
const SCOPE = 'openid email profile'

export type Provider = ReturnType<typeof createProvider>

/** Both methods reject with ProviderError. `callback` is the redirect URI. */
export function createProvider({ issuer, clientId, clientSecret }: ProviderOptions) {
  const discover = () =>
    client.discovery(
      new URL(issuer),
      clientId,
      { [client.clockTolerance]: CLOCK_TOLERANCE_S },
      secretBy(textOf(clientSecret)),
      {
        timeout: TIMEOUT_S,
        execute: [
          client.enableNonRepudiationChecks,
          ...(issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
        ],
      },
    )

  /** Read again for each step: it is one request, keeps no outdated keys, and needs no retry after an outage. */
  async function configuration(): Promise<client.Configuration> {
    try {
      return await discover()
    } catch (cause) {
      throw new ProviderError('unavailable', { cause })
    }
  }

  return {
    /** The address to send the browser to. */
    async begin(callback: string) {
      const config = await configuration()
      const attempt: Attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: SCOPE,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, attempt }
    },

    /** `search`: the query of the callback, with its question mark. */
    async finish(callback: string, search: string, { state, nonce, verifier }: Attempt): Promise<Proof> {
      const config = await configuration()
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(`${callback}${search}`), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const token = tokens.claims()!
        // OpenID Connect Core 3.1.3.7 and 2, which the library leaves to its user
        if (token.sub === '' || (token.azp ?? clientId) !== clientId)
          throw new Error('the ID token has an empty subject, or is for another client')
        const more =
          config.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await client.fetchUserInfo(config, tokens.access_token, token.sub)
        const claims: Record<string, unknown> = { ...more, ...token }
        const { email, email_verified } = claims
        return {
          issuer: token.iss,
          subject: token.sub,
          ...(typeof email === 'string' && { email }),
          isEmailVerified: email_verified === true,
          claims,
        }
      } catch (cause) {
        throw new ProviderError(isAway(cause) ? 'unavailable' : isWrongClient(cause) ? 'misconfigured' : 'refused', {
          cause,
        })
      }
    },
  }
}

/** RFC 6749 2.3.1 asks for Basic; providers that take only the body are rare. */
const secretBy = (secret: string) => client.ClientSecretBasic(secret)

/** The answer of the token endpoint to a client that it does not know (RFC 6749 5.2). */
function isWrongClient(error: unknown): boolean {
  const { status, error: code, cause } = error as { status?: number; error?: string; cause?: unknown }
  return status === 401 || code === 'invalid_client' || (cause instanceof Response && cause.status === 401)
}

/** A network error or timeout, or an answer of 5xx. */
function isAway(error: unknown): boolean {
  const { cause } = error as Error
  if (cause instanceof Response) return cause.status >= 500
  return error instanceof TypeError || (error instanceof client.ClientError && cause instanceof DOMException)
}
