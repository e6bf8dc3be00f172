/** The servers that are measured, as data. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyLargeList } from './large-list.ts'
import { BASELINES, BASELINES_NODE, CLI, type Need, type Pins } from './machine.ts'
import { createDatabase, type Database, getLargeDatabase } from './postgres.ts'
import type { RequestKind } from './requests.ts'

export interface Contender {
  /** Its name in tables. */
  readonly title: string
  /** What it stands for; decides its colour in the chart. */
  readonly role: 'rollcall' | 'limit' | 'durable' | 'relaxed'
  readonly needs?: Need
  /** The path that is requested to see whether it has started; `/` by default. */
  readonly probe?: string
  /** How many processes share the load, 1 by default. Each gets its port in the variable `PORT`. */
  readonly processes?: number
  /** Sends requests of this kind instead of those of the trial. */
  readonly sends?: RequestKind
  /** Returns the command that starts it. It writes only into the folder. */
  launch(place: Place): Launch | Promise<Launch>
}

interface Place {
  /** The port of the first process. */
  readonly port: number
  readonly folder: string
  readonly pins: Pins | undefined
}

interface Launch {
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The process of a database server, whose CPU counts too. */
  readonly server?: number | undefined
}

const BARE = fileURLToPath(new URL('bare.ts', import.meta.url))

export const CONTENDERS = {
  rollcall: rollcall('Rollcall', ({ folder }) => `sqlite:${join(folder, 'list.db')}`),
  rollcallLarge: rollcall('Rollcall, ten million on the list', async ({ folder }) => {
    const file = join(folder, 'list.db')
    await copyLargeList(file)
    return `sqlite:${file}`
  }),
  rollcallPostgres: postgres('Rollcall, PostgreSQL', createDatabase),
  rollcallPostgres2: { ...postgres('Rollcall, PostgreSQL, two processes', createDatabase), processes: 2 },
  rollcallPostgres4: { ...postgres('Rollcall, PostgreSQL, four processes', createDatabase), processes: 4 },
  rollcallPostgresLarge: postgres('Rollcall, PostgreSQL, five million on the list', getLargeDatabase),
  rollcallPostgresKnown: { ...postgres('The same with addresses of the list', getLargeDatabase), sends: 'listed' },
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
    launch: async ({ pins }) => ({
      command: [BASELINES_NODE, join(BASELINES, 'fastify-postgres.js')],
      ...toEnvironment(await createDatabase(pins), { NODE_ENV: 'production' }),
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
      environment: { HOST: '127.0.0.1', DATABASE_URL: await toList(place) },
    }),
  }
}

function postgres(title: string, getDatabase: (pins: Pins | undefined) => Promise<Database>): Contender {
  return {
    title,
    role: 'rollcall',
    probe: '/llms.txt',
    launch: async ({ pins }) => ({
      command: [process.execPath, CLI, 'serve'],
      ...toEnvironment(await getDatabase(pins), { HOST: '127.0.0.1' }),
    }),
  }
}

function toEnvironment({ url, server }: Database, variables: Readonly<Record<string, string>>) {
  return { environment: { ...variables, DATABASE_URL: url }, server }
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
    launch: ({ folder }) => ({
      command: [title.includes('bun:') ? process.execPath : BASELINES_NODE, join(BASELINES, file)],
      environment: {
        NODE_ENV: 'production',
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
