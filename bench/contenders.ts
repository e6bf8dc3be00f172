/** The servers that are measured. */

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchList, Checkout, ListKind } from './lists.ts'
import { toCommand } from './lists.ts'
import type { RequestKind } from './load.ts'

export interface Contender {
  /** Its name in tables. */
  readonly title: string
  /** What it stands for; decides its color in the chart. */
  readonly role: 'rollcall' | 'limit' | 'durable' | 'relaxed'
  /** Says what is missing on this machine, and how to install it. */
  readonly missing?: () => string | undefined
  /** The path that is requested to see whether it has started; `/` by default. */
  readonly probe?: string
  /** How many processes share the load, 1 by default. Each gets its port in the variable `PORT`. */
  readonly processes?: number
  /** Sends requests of this kind instead of those of the trial. */
  readonly sends?: RequestKind
  /** Starts with a list of this kind instead of that of the trial. */
  readonly list?: ListKind
  /** The checkout whose Rollcall it is. Others store elsewhere, or nothing. */
  readonly checkout?: Checkout
  /** Returns the command that starts it. It writes only into the folder. */
  launch(place: Place): { readonly command: readonly string[]; readonly environment?: Readonly<Record<string, string>> }
}

export interface Place {
  /** The port of the first process. */
  readonly port: number
  readonly folder: string
  readonly list: BenchList
}

const toPath = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const NODE = toPath('baselines/node_modules/.bin/node')
const needsBaselines = () =>
  existsSync(NODE) ? undefined : 'the baselines are not installed: npm ci --prefix bench/baselines'
const needsNginx = () => (Bun.which('nginx') ? undefined : 'nginx is not installed: apt-get install nginx-light')

/** @param own the checkout that has this file @param other the one to compare with */
export function createContenders(own: Checkout, other: Checkout | undefined): Readonly<Record<string, Contender>> {
  const rollcall = (title: string, options: Partial<Contender> = {}): Contender => ({
    title,
    role: 'rollcall',
    probe: '/llms.txt',
    checkout: own,
    launch: ({ list }) => ({
      command: [...toCommand(options.checkout ?? own), 'serve'],
      environment: { HOST: '127.0.0.1', DATABASE_URL: list.url },
    }),
    ...options,
  })
  return {
    rollcall: rollcall('Rollcall'),
    ...(other && { other: rollcall(`Rollcall at ${other.commit}`, { checkout: other }) }),
    known: rollcall('Rollcall, known addresses', { sends: 'known' }),
    listed: rollcall('Rollcall, known addresses', { sends: 'listed' }),
    empty: rollcall('Rollcall, empty list', { list: 'postgres' }),
    two: rollcall('Rollcall, two processes', { processes: 2 }),
    four: rollcall('Rollcall, four processes', { processes: 4 }),
    bare: {
      title: 'Bare Bun.serve, stores nothing',
      role: 'limit',
      launch: ({ port }) => ({ command: [process.execPath, toPath('bare.ts'), String(port)] }),
    },
    nginx: {
      title: 'nginx, `return 200`',
      role: 'limit',
      missing: needsNginx,
      launch({ port, folder }) {
        const file = join(folder, 'nginx.conf')
        writeFileSync(file, toNginxConfig(port, folder))
        return { command: ['nginx', '-e', 'stderr', '-c', file] }
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
      missing: needsBaselines,
      launch: ({ list }) => ({
        command: [NODE, toPath('baselines/fastify-postgres.js')],
        environment: { NODE_ENV: 'production', DATABASE_URL: list.url },
      }),
    },
  }
}

/** A program in `baselines/`: one INSERT for each request. It runs on Bun if its database is `bun:sqlite`, otherwise on Node. */
function baseline(title: string, role: 'durable' | 'relaxed', file: string): Contender {
  return {
    title: `${title}, ${role}`,
    role,
    missing: needsBaselines,
    launch: ({ folder }) => ({
      command: [title.includes('bun:') ? process.execPath : NODE, toPath(`baselines/${file}`)],
      environment: {
        NODE_ENV: 'production',
        FILE: join(folder, 'list.db'),
        SYNCHRONOUS: role === 'durable' ? 'FULL' : 'NORMAL',
      },
    }),
  }
}

function toNginxConfig(port: number, folder: string): string {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`)
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${paths.join('\n  ')}
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:${port};
    default_type application/json;
    location / { return 200 '{"ok":true}'; }
  }
}
`
}
