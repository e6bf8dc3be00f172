import { constants, Database } from 'bun:sqlite'
import { accessSync, constants as modes, realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '../../subscriber.ts'
import { isInWalMode } from './header.ts'
import type { HeldFile } from './held-file.ts'
import { createPlace, type Place } from './place.ts'
import { createStateFile, type StateFile } from './state-file.ts'

/** How a list is opened that cannot be written. */
export interface ReadOnlyAccess {
  /** Opens the file at the path. */
  readonly uri: string
  /** SQLite's flags. */
  readonly flags: number
  /** Why it cannot be written. */
  readonly error: StoreError
  /** Throws when another process has changed the list. Default: the locks of SQLite exclude it. */
  readonly checkUnchanged?: (() => void) | undefined
}

/** A connection to the file of a list. */
export class ListFile extends Database {
  /** The path of the list, also when SQLite has opened it by a URI. */
  override readonly filename: string
  readonly state: StateFile
  /** Whether the list is known to be in its latest state. Once it is, it stays so while it is open. */
  isLatest: boolean
  readonly #held: HeldFile
  readonly #access: ReadOnlyAccess | undefined
  #place: Place | undefined
  #isLost = false
  #isClosed = false

  /** @param held the file at the path; closing the connection releases it */
  constructor(path: string, held: HeldFile, access?: ReadOnlyAccess) {
    super(access?.uri ?? path, access?.flags ?? { readwrite: true })
    this.filename = path
    this.#held = held
    this.#access = access
    this.state = createStateFile(path, held)
    this.isLatest = this.state.isAsClosed()
  }

  /** Why the list was opened for reading only; undefined when it can be written. */
  get writeError(): StoreError | undefined {
    return this.#access?.error
  }

  /** Call it after each read. @throws StoreError when what was read may be a mix of two states */
  checkUnchanged(): void {
    this.#access?.checkUnchanged?.()
  }

  /**
   * Remembers where the files are. Call it when the list is in WAL mode and was read.
   *
   * @throws StoreError when they have been replaced since they were opened
   */
  rememberPlace(): void {
    this.#place = createPlace(this.filename, this.#held)
    const moved = new Int32Array(2)
    // The place compares the paths with `held`. This compares them with the file that SQLite has opened.
    this.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, moved)
    if (moved[0] !== 0) throw new StoreError(`the list is lost: another file was at ${this.filename} for a moment`)
    this.checkPlace()
  }

  /** @throws StoreError when the list is lost: what is written to it now would be in none of the files at its paths */
  checkPlace(): void {
    const loss = this.findLoss()
    if (loss !== undefined) throw new StoreError(`the list is lost: ${loss}`)
  }

  /**
   * The same after a commit, at a lower cost: see Place.
   *
   * @throws StoreError
   */
  checkCommit(): void {
    if (this.#place?.isKept() === false) this.checkPlace()
  }

  /** What happened to the files, if the next process that opens the list would not get them. */
  findLoss(): string | undefined {
    const loss = this.#place?.findLoss()
    this.#isLost = loss !== undefined
    return loss
  }

  /** Whether the list was lost at the last look. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** The present path of a lost list that is complete there. */
  findElsewhere(): string | undefined {
    return this.#place?.findElsewhere()
  }

  override close(throwOnError?: boolean): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#endWalMode()
    this.#place = undefined
    super.close(throwOnError)
    this.#held.release()
  }

  /** Moves the log into the file, and marks the file as complete: see findForeignLog. */
  #endWalMode(): void {
    try {
      if (!this.#place || this.findLoss() !== undefined) return
      // SQLite would end the mode also when it cannot delete the log, which would look like one of another list.
      accessSync(dirname(realpathSync(this.filename)), modes.W_OK)
      this.run('PRAGMA journal_mode = DELETE')
      if (this.isLatest && !isInWalMode(this.#held.descriptor)) this.state.saveClosed()
    } catch {
      // Another process uses the list, or the disk has errors. The list stays in WAL mode, with its log.
    }
  }
}
