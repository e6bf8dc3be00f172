/** The proxies with the files of deploy/. Only ports, certificates and what a test needs differ from what is shipped. */

import { readText } from '../support/markdown.ts'

export interface Ports {
  /** Where Rollcall listens. */
  readonly upstream: number
  /** Where the proxy takes HTTP. */
  readonly plain: number
  /** Where the proxy takes HTTPS. */
  readonly secure: number
}

export interface Setup {
  readonly name: string
  /** The program, and the arguments with which it prints its version. */
  readonly program: string
  readonly version: readonly string[]
  /** Whether the file has a rate limit. */
  readonly hasLimit: boolean
  /** The text of the configuration. The certificate is `list.pem`, with its key, in the folder of the proxy. */
  configure(ports: Ports, folder: string): string
  /** The arguments that run the proxy in the foreground. */
  toArguments(file: string): readonly string[]
}

const NGINX: Setup = {
  name: 'nginx',
  program: 'nginx',
  version: ['-v'],
  hasLimit: true,
  configure: ({ upstream, plain, secure }, folder) => `
daemon off;
master_process off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  ${replace('nginx.conf', {
    'listen 80;': `listen 127.0.0.1:${plain};`,
    'listen [::]:80;': '',
    'listen 443 ssl;': `listen 127.0.0.1:${secure} ssl;`,
    'listen [::]:443 ssl;': '',
    '/etc/letsencrypt/live/list.example.org/fullchain.pem': `${folder}/list.pem`,
    '/etc/letsencrypt/live/list.example.org/privkey.pem': `${folder}/list.pem`,
    'server 127.0.0.1:3000;': `server 127.0.0.1:${upstream};`,
  })}
}
`,
  toArguments: (file) => ['-p', '.', '-c', file, '-e', 'stderr'],
}

const CADDY: Setup = {
  name: 'Caddy',
  program: 'caddy',
  version: ['version'],
  hasLimit: false,
  configure: ({ upstream, plain, secure }, folder) =>
    replace('Caddyfile', {
      '\n\tservers {': `
	admin off
	http_port ${plain}
	https_port ${secure}
	default_bind 127.0.0.1
	servers {`,
      '\nlist.example.org, www.list.example.org {': `
list.example.org, www.list.example.org {
	tls ${folder}/list.pem ${folder}/list.pem`,
      'reverse_proxy 127.0.0.1:3000 {': `reverse_proxy 127.0.0.1:${upstream} {`,
    }),
  toArguments: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
}

const HAPROXY: Setup = {
  name: 'HAProxy',
  program: 'haproxy',
  version: ['-v'],
  hasLimit: true,
  configure: ({ upstream, plain, secure }, folder) =>
    replace('haproxy.cfg', {
      'bind :80\n': `bind 127.0.0.1:${plain}\n`,
      'bind :443 ssl crt /etc/haproxy/certs/list.example.org.pem': `bind 127.0.0.1:${secure} ssl crt ${folder}/list.pem`,
      'server rollcall 127.0.0.1:3000': `server rollcall 127.0.0.1:${upstream}`,
    }),
  toArguments: (file) => ['-db', '-f', file],
}

export const SETUPS: readonly Setup[] = [NGINX, CADDY, HAPROXY]

/** Reads a file of deploy/ and replaces parts of it, each of which it must have once. */
function replace(name: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce(
    (text, [part, other]) => {
      if (text.split(part).length !== 2) throw new Error(`deploy/${name} must have this once: ${part}`)
      return text.replace(part, () => other)
    },
    readText(`deploy/${name}`),
  )
}
