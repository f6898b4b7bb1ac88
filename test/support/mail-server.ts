// A real SMTP server of this process that keeps what it receives.
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface Mail {
  readonly from: string
  readonly to: string[]
  /** Without the encoding of long lines. */
  readonly text: string
  readonly user: unknown
  readonly secure: boolean
}

/** `host`: where it listens. */
export async function startMailServer(options: SMTPServerOptions = {}, host = '127.0.0.1') {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onData(stream, { envelope, user, secure }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        const to = envelope.rcptTo.map(({ address }) => address)
        const text = Buffer.concat(chunks).toString().replaceAll('=\r\n', '').replaceAll('=3D', '=')
        mails.push({ from, to, text, user, secure })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, host, () => resolve()))
  const { port } = server.server.address() as { port: number }
  return { mails, port, url: `smtp://127.0.0.1:${port}`, close: () => server.close() }
}
