// A certificate that nobody vouches for, created by openssl.
import { join } from 'node:path'

/** `name` is its common name; it is valid for localhost and 127.0.0.1. */
export function createCertificate(dir: string, name: string): { certPath: string; keyPath: string } {
  const [certPath, keyPath] = [join(dir, `${name}.crt`), join(dir, `${name}.key`)]
  const { exitCode, stderr } = Bun.spawnSync([
    ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
    ...['-keyout', keyPath, '-out', certPath],
  ])
  if (exitCode !== 0) throw new Error(stderr.toString())
  return { certPath, keyPath }
}
