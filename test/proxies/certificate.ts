/** A certificate for a test. */

import { appendFile } from 'node:fs/promises'

/** Writes a certificate that signs itself, and its key, into a file. Returns the certificate. */
export async function createCertificate(file: string, names: readonly string[]): Promise<string> {
  const key = `${file}.key`
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const subject = [
    '-subj',
    `/CN=${names[0]}`,
    '-addext',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
  ]
  const child = Bun.spawn(['openssl', 'req', '-x509', ...options, ...subject, '-keyout', key, '-out', file], {
    stderr: 'pipe',
  })
  const [text, code] = await Promise.all([child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`openssl ended with ${code}: ${text}`)
  const certificate = await Bun.file(file).text()
  await appendFile(file, await Bun.file(key).text())
  return certificate
}
