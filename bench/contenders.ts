/** The servers that are measured, as data. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyLargeList } from './large-list.ts'
import { BASELINES, BASELINES_NODE, CLI, type Need, type Pins } from './machine.ts'
import { createDatabase } from './postgres.ts'

export interface Contender {
  /** Its name in tables. */
  readonly title: string
  /** What it stands for; decides its colour in the chart. */
  readonly role: 'rollcall' | 'limit' | 'durable' | 'relaxed'
  readonly needs?: Need
  /** The path that is requested to see whether it has started; `/` by default. */
  readonly probe?: string
  /** Returns the command that starts it on a port. It writes only into the folder. */
  launch(place: Place): Launch | Promise<Launch>
}

interface Place {
  readonly port: number
  readonly folder: string
  readonly pins: Pins | undefined
}

interface Launch {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

const BARE = fileURLToPath(new URL('bare.ts', import.meta.url))

export const CONTENDERS = {
  rollcall: rollcall('Rollcall', ({ folder }) => `sqlite:${join(folder, 'list.db')}`),
  rollcallLarge: rollcall('Rollcall, ten million on the list', async ({ folder }) => {
    const file = join(folder, 'list.db')
    await copyLargeList(file)
    return `sqlite:${file}`
  }),
  rollcallPostgres: rollcall('Rollcall, PostgreSQL', ({ pins }) => createDatabase(pins)),
  bare: bare('Bare Bun.serve, stores nothing', 'json'),
  bareDocument: bare('Bare Bun.serve document', 'document'),
  bareGzip: bare('Bare Bun.serve document', 'gzip'),
  bareUnchanged: bare('Bare Bun.serve 304', 'unchanged'),
  nginx: {
    title: 'nginx, `return 200`',
    role: 'limit',
    needs: 'nginx',
    launch({ port, folder }) {
      const file = join(folder, 'nginx.conf')
      writeFileSync(file, toNginxConfig(port, folder))
      return { command: ['nginx', '-e', 'stderr', '-c', file], environment: {} }
    },
  },
  fastifyDurable: baseline('Fastify 5, node:sqlite', 'durable', 'fastify.js'),
  fastifyRelaxed: baseline('Fastify 5, node:sqlite', 'relaxed', 'fastify.js'),
  expressDurable: baseline('Express 5, node:sqlite', 'durable', 'express.js'),
  expressRelaxed: baseline('Express 5, node:sqlite', 'relaxed', 'express.js'),
  honoDurable: baseline('Hono, bun:sqlite', 'durable', 'hono.js'),
  honoRelaxed: baseline('Hono, bun:sqlite', 'relaxed', 'hono.js'),
  elysiaDurable: baseline('Elysia, bun:sqlite', 'durable', 'elysia.js'),
  elysiaRelaxed: baseline('Elysia, bun:sqlite', 'relaxed', 'elysia.js'),
  fastifyPostgres: {
    title: 'Fastify 5, postgres',
    role: 'durable',
    needs: 'baselines',
    launch: async ({ port, pins }) => ({
      command: [BASELINES_NODE, join(BASELINES, 'fastify-postgres.js')],
      environment: {
        NODE_ENV: 'production',
        PORT: String(port),
        DATABASE_URL: await createDatabase(pins),
      },
    }),
  },
} as const satisfies Record<string, Contender>

export type ContenderName = keyof typeof CONTENDERS

/** The response of the bare server. */
export type BareAnswer = 'json' | 'document' | 'gzip' | 'unchanged'

function rollcall(title: string, toList: (place: Place) => string | Promise<string>): Contender {
  return {
    title,
    role: 'rollcall',
    probe: '/llms.txt',
    launch: async (place) => ({
      command: [process.execPath, CLI, 'serve'],
      environment: { HOST: '127.0.0.1', PORT: String(place.port), DATABASE_URL: await toList(place) },
    }),
  }
}

function bare(title: string, answer: BareAnswer): Contender {
  return {
    title,
    role: 'limit',
    launch: ({ port }) => ({
      command: [process.execPath, BARE, String(port), answer],
      environment: {},
    }),
  }
}

/** A program in `baselines/`. It runs on Bun if its database is `bun:sqlite`, otherwise on Node. */
function baseline(title: string, role: 'durable' | 'relaxed', file: string): Contender {
  return {
    title: `${title}, ${role}`,
    role,
    needs: 'baselines',
    launch: ({ port, folder }) => ({
      command: [title.includes('bun:') ? process.execPath : BASELINES_NODE, join(BASELINES, file)],
      environment: {
        NODE_ENV: 'production',
        PORT: String(port),
        FILE: join(folder, 'list.db'),
        SYNCHRONOUS: role === 'durable' ? 'FULL' : 'NORMAL',
      },
    }),
  }
}

function toNginxConfig(port: number, folder: string): string {
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:${port};
    default_type application/json;
    location / { return 200 '{"ok":true}'; }
  }
}
`
}
