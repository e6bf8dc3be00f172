/** Full disks of a PostgreSQL server. Each is a file system of its own in memory, which only root can make. */

import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getServer } from '../../test/support/postgres.ts'
import type { Fault, Scene } from './fault.ts'

const TABLESPACE_MIB = 8

/** Space for two more segments. */
const WAL_MIB = 32

export const DISK_FAULTS: readonly Fault[] =
  process.getuid?.() === 0
    ? [
        {
          name: 'the disk of the tablespace is full',
          lasts: 4_000,
          responses: '500',
          reason: /the disk is full/,
          // Small groups still fit into the last page.
          isIntermittent: true,
          cause: fillTablespace,
        },
        {
          // The server ends itself. Someone has to start it when there is room again.
          name: 'the disk of the WAL is full',
          lasts: 8_000,
          responses: '500',
          reason: /disk is full|connection was lost|cannot be reached|PostgreSQL reports an error/,
          cause: fillWal,
        },
      ]
    : []

interface Disk {
  readonly folder: string
  /** Leaves no room. */
  fill(): void
  /** Makes room again. */
  free(): void
  remove(): void
}

/** Makes a file system in memory that belongs to the user of the server. */
function mountDisk(megabytes: number, data: string): Disk {
  const { uid, gid } = statSync(data)
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-disk-'))
  const options = `size=${megabytes}m,mode=700,uid=${uid},gid=${gid}`
  const { success, stderr } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', options, 'rollcall', folder])
  if (!success) throw new Error(`tmpfs cannot be mounted: ${stderr}`)
  const unmount = () => Bun.spawnSync(['umount', '-l', folder])
  process.once('exit', unmount)
  const file = join(folder, 'filler')
  return {
    folder,
    fill: () => void Bun.spawnSync(['dd', 'if=/dev/zero', `of=${file}`, 'bs=4k'], { stderr: 'ignore' }),
    free: () => rmSync(file, { force: true }),
    remove() {
      unmount()
      process.off('exit', unmount)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function fillTablespace({ list }: Scene) {
  const server = await getServer()
  const disk = mountDisk(TABLESPACE_MIB, server.data)
  const name = `small_${Date.now()}`
  await server.run(`CREATE TABLESPACE ${name} LOCATION '${disk.folder}'`, server.admin)
  const move = async (place: string) => {
    for (const table of ['inbox', 'subscribers'])
      await server.run(`ALTER TABLE rollcall.${table} SET TABLESPACE ${place}`, list.url)
  }
  await move(name)
  disk.fill()
  return async () => {
    disk.free()
    await move('pg_default')
    await server.run(`DROP TABLESPACE ${name}`, server.admin)
    disk.remove()
  }
}

async function fillWal() {
  const server = await getServer()
  const wal = join(server.data, 'pg_wal')
  const disk = mountDisk(WAL_MIB + measure(wal), server.data)
  const there = join(disk.folder, 'pg_wal')
  await server.kill()
  move(wal, there)
  symlinkSync(there, wal)
  await server.start()
  disk.fill()
  await useWal()
  return async () => {
    disk.free()
    // It may have ended itself.
    await server.kill().catch(() => {})
    rmSync(wal)
    move(there, wal)
    disk.remove()
    await server.start()
  }
}

/** Begins new segments until there is no room for one. */
async function useWal(): Promise<void> {
  const server = await getServer()
  const begin = () => server.run('SELECT pg_switch_wal()', server.admin)
  const isPossible = () =>
    begin().then(
      () => true,
      () => false,
    )
  for (let segments = 0; segments < 20 && (await isPossible()); segments++) await Bun.sleep(100)
}

/** Moves a folder to another file system, with its owner. */
function move(from: string, to: string): void {
  const { success, stderr } = Bun.spawnSync(['cp', '-a', from, to])
  if (!success) throw new Error(`${from} cannot be copied: ${stderr}`)
  rmSync(from, { recursive: true })
}

/** The size of a folder in MiB. */
function measure(folder: string): number {
  const [kibibytes = ''] = Bun.spawnSync(['du', '-sk', folder]).stdout.toString().split('\t')
  return Math.ceil(Number(kibibytes) / 1024)
}
