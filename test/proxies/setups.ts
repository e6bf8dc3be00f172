/** The proxies, each with a simple configuration on loopback. A configuration of deploy/ can be another setup. */

import { ENDPOINT } from '../support/contract.ts'

export interface Ports {
  /** Where Rollcall listens. */
  readonly upstream: number
  /** Where the proxy passes every request on. */
  readonly open: number
  /** Where a rule of the proxy refuses the path of the endpoint with 403. */
  readonly guarded: number
}

export interface Setup {
  readonly name: string
  /** The program, and the arguments with which it prints its version. */
  readonly program: string
  readonly version: readonly string[]
  /** Whether the proxy receives a whole body before it passes it on. Then no slow body reaches Rollcall. */
  readonly buffersBodies: boolean
  /** The text of the configuration. Relative paths begin in the folder of the proxy. */
  configure(ports: Ports): string
  /** The arguments that run the proxy in the foreground. */
  toArguments(file: string): readonly string[]
}

interface NginxOptions {
  readonly name: string
  readonly buffersBodies: boolean
  /** Whether connections to Rollcall are kept. By default, nginx uses HTTP/1.0, and a connection for each request. */
  readonly keepsConnections: boolean
}

function createNginx({ name, buffersBodies, keepsConnections }: NginxOptions): Setup {
  return {
    name,
    program: 'nginx',
    version: ['-v'],
    buffersBodies,
    configure: ({ upstream, open, guarded }) => `
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
  client_max_body_size 8m;
  proxy_request_buffering ${buffersBodies ? 'on' : 'off'};
  ${keepsConnections ? 'proxy_http_version 1.1; proxy_set_header Connection "";' : ''}
  proxy_set_header Host $http_host;
  upstream rollcall { server 127.0.0.1:${upstream}; ${keepsConnections ? 'keepalive 16;' : ''} }
  server {
    listen 127.0.0.1:${open};
    location / { proxy_pass http://rollcall; }
  }
  server {
    listen 127.0.0.1:${guarded};
    location = ${ENDPOINT.path} { return 403; }
    location / { proxy_pass http://rollcall; }
  }
}
`,
    toArguments: (file) => ['-p', '.', '-c', file, '-e', 'stderr'],
  }
}

const CADDY: Setup = {
  name: 'Caddy',
  program: 'caddy',
  version: ['version'],
  buffersBodies: false,
  configure: ({ upstream, open, guarded }) => `
{
  admin off
  auto_https off
}
http://:${open} {
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:${upstream}
}
http://:${guarded} {
  bind 127.0.0.1
  @endpoint path ${ENDPOINT.path}
  respond @endpoint 403
  reverse_proxy 127.0.0.1:${upstream}
}
`,
  toArguments: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
}

const HAPROXY: Setup = {
  name: 'HAProxy',
  program: 'haproxy',
  version: ['-v'],
  buffersBodies: false,
  configure: ({ upstream, open, guarded }) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend open
  bind 127.0.0.1:${open}
  default_backend rollcall
frontend guarded
  bind 127.0.0.1:${guarded}
  http-request deny deny_status 403 if { path ${ENDPOINT.path} }
  default_backend rollcall
backend rollcall
  server rollcall 127.0.0.1:${upstream}
`,
  toArguments: (file) => ['-db', '-f', file],
}

export const SETUPS: readonly Setup[] = [
  createNginx({ name: 'nginx', buffersBodies: true, keepsConnections: false }),
  createNginx({ name: 'nginx with keepalive', buffersBodies: true, keepsConnections: true }),
  createNginx({ name: 'nginx without buffering', buffersBodies: false, keepsConnections: true }),
  CADDY,
  HAPROXY,
]
