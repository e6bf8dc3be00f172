/** What errors say: one line for the owner with an exit code, also for those of the system, and fields for the log. */

import { existsSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, resolve } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import { quotePath } from './words.ts'

/** Exit codes of the command line. */
export const EXIT = { done: 0, failed: 1, usage: 2, incomplete: 3 } as const

/** The exit code of a command that a signal stopped, as shells report it: 128 plus the number of the signal. */
export function toSignalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/**
 * An expected error. The command line prints its message, and exits with `exitCode`. Any other error is one of the system, which
 * `toFileFailure` converts, or a defect.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure'
  readonly exitCode: number

  /** @param message for the owner. It may quote a file or a setting: controls are escaped, and passwords are hidden */
  constructor(message: string, { exitCode = EXIT.failed, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(escapeControls(hidePasswords(message)), options)
    this.exitCode = exitCode
  }
}

/** The command or a setting is wrong. */
export class UsageError extends Failure {
  override readonly name = 'UsageError'

  constructor(message: string) {
    super(message, { exitCode: EXIT.usage })
  }
}

/**
 * Escapes characters that change what a terminal does or shows: control characters (U+0080 to U+009F too), line
 * separators, and marks that change the direction of text.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** In the advice of Rollcall, this word is in the place of a password. It stays. */
const NOT_OUR_EXAMPLE = '(?!PASSWORD@)'

/** Such as `postgres` and `svn+ssh`. */
const SCHEME = '\\b[a-z][a-z\\d+.-]*'
/** `:`, or percent-encoded `%3A`. */
const COLON = '(?::|%3a)'
/** `//`, or `%2F%2F`. There may be none, such as in `postgres:ann:secret@host`. */
const SLASHES = '(?:\\/|%2f)*'
/** `ann` in `ann:secret@host`: as little as possible, so that the password begins behind the first colon. */
const SHORTEST_USER = '\\S*?'
/** `sec:r@et` in `ann:sec:r@et@host`: as much as possible, so that it goes on to the last `@`. */
const LONGEST_PASSWORD = '\\S+'
/** `@`, or percent-encoded `%40`, which stays. */
const BEFORE_AT = '(?=@|%40)'
/** The password of any URL, such as `https://ann:secret@host` and `https%3A%2F%2Fann%3Asecret%40host`. $1 is what is before it. */
const URL_PASSWORD = new RegExp(
  `(${SCHEME}${COLON}${SLASHES}${SHORTEST_USER}${COLON})${NOT_OUR_EXAMPLE}${LONGEST_PASSWORD}${BEFORE_AT}`,
  'gi',
)

/** `postgres://` and `postgresql:`. */
const POSTGRES_SCHEME = '\\bpostgres(?:ql)?:\\/*'
/** `ann`. It may be empty. */
const POSTGRES_USER = '[^\\s:"\']*'
/** `…` is a password that URL_PASSWORD has replaced. */
const NOT_REPLACED = '(?!PASSWORD@|…)'
/** `my secret`: to the last `@` of the line, but not beyond a text in quotes, which may have another URL behind it. */
const PASSWORD_WITH_BLANKS = '[^"\'\\n]+'
/** The password of a PostgreSQL URL, which may have blanks, such as `postgres://ann:my secret@host`. $1 is what is before it. */
const POSTGRES_PASSWORD = new RegExp(
  `(${POSTGRES_SCHEME}${POSTGRES_USER}:)${NOT_REPLACED}${PASSWORD_WITH_BLANKS}(?=@)`,
  'gi',
)

/** Also `pass` in `sslpass`, and `PGPASSWORD`. */
const PARAMETER_NAME = 'pass(?:word|wd)?|pwd'
/** ` = ` as well as `=`, or percent-encoded `%3D`. */
const EQUALS = '\\s*=\\s*|%3d'
/** `'my \' secret'`: a backslash keeps the quote in it. */
const IN_SINGLE_QUOTES = "'(?:[^'\\\\]|\\\\.)*'"
/** `"my secret"`. */
const IN_DOUBLE_QUOTES = '"[^"]*"'
/** `secret` in `password=secret&port=1` and in `password=secret host=db`. */
const WITHOUT_QUOTES = '[^\\s&"\']+'
/** The value of `password=`, `passwd=` or `pwd=`, as in a connection string of libpq. $1 is the name, $2 the sign behind it. */
const PASSWORD_PARAMETER = new RegExp(
  `(${PARAMETER_NAME})(${EQUALS})(?:${IN_SINGLE_QUOTES}|${IN_DOUBLE_QUOTES}|${WITHOUT_QUOTES})`,
  'gi',
)

/**
 * Replaces what may be a password by `…`. A password may have a `/` or a `@`, and in the URL of PostgreSQL or in quotes a blank.
 * `PASSWORD` stays: our own advice has it in its place.
 */
export function hidePasswords(text: string): string {
  return text.replace(URL_PASSWORD, '$1…').replace(POSTGRES_PASSWORD, '$1…').replace(PASSWORD_PARAMETER, '$1$2…')
}

/** The code of an error of the system, of the runtime or of a library, such as `ENOENT`; empty when it has none. */
export function toErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Describes an error of the system: in our words, or in those of the C library. Returns undefined for any other error. */
export function toSystemReason(error: unknown): string | undefined {
  const code = toErrorCode(error)
  const { path, dest, syscall, errno } = Object(error) as NodeJS.ErrnoException & { readonly dest?: string }
  // Of open() with `wx` and of link(), which create a name: something has it. mkdir() means another thing: see below.
  if (code === 'EEXIST' && syscall !== 'mkdir') {
    return `${findExisting(dest ?? path)} exists already: move it to another folder`
  }
  // A folder cannot be created below a file: EEXIST or ENOTDIR.
  if (/^(?:ENOTDIR|EEXIST)$/.test(code)) return `${findExisting(path)} is not a folder: correct the path`
  if (/^(?:EACCES|EPERM)$/.test(code)) return describeDenied(path, syscall)
  if (code === 'EROFS') return describeReadOnly(path)
  const reason = SYSTEM_REASONS[code]
  if (reason !== undefined) return reason
  // Errors of SQLite have a number too, but no system call.
  if (syscall === undefined || typeof errno !== 'number') return undefined
  const known = getSystemErrorMessage(errno)
  // The runtime has no words for about twenty of them.
  return known.startsWith('Unknown') ? `the system reports ${code}` : known
}

function findExisting(path: string | undefined): string {
  if (path === undefined) return 'a part of its path'
  const name = resolve(path)
  return existsSync(name) ? name : findExisting(dirname(name))
}

/**
 * Turns an error of the file system into a Failure that names the file; returns any other error. When the reader of a pipe is
 * gone, as with `head`, nothing is printed. @param file as the owner knows it. Default: the path in the error
 */
export function toFileFailure(error: unknown, file?: string): unknown {
  if (toErrorCode(error) === 'EPIPE') return new Failure('', { exitCode: toSignalExitCode('SIGPIPE') })
  const reason = toSystemReason(error)
  const { path = 'the system' } = Object(error) as NodeJS.ErrnoException
  return reason === undefined ? error : new Failure(`${file ?? path}: ${reason}`)
}

/** What to do about a file system such as exFAT, where every file has the same mode. */
export const NO_MODES = 'mount its file system with umask=077 and the user of the service, or use a local disk'

/**
 * Says whose a file or folder is, who this process is, and what to run.
 *
 * @param name its path; undefined when the error has none
 * @param syscall the call that failed
 */
function describeDenied(name: string | undefined, syscall = ''): string {
  // Such a file system refuses every change of a mode, whoever asks.
  if (syscall.endsWith('chmod')) return `its file system has no modes, as on a share of a NAS: ${NO_MODES}`
  const path = name === undefined ? undefined : findExisting(name)
  const stats = path === undefined ? undefined : statOrNothing(path)
  if (path === undefined || stats === undefined) return 'permission denied'
  // A system without users has no such function.
  const me = process.geteuid?.() ?? stats.uid
  const denied = `permission denied: ${path} belongs to ${toUser(stats.uid)}, and this runs as ${toUser(me)}`
  if (stats.uid === me) return `${denied}${describeMode(path, stats)}`
  return `${denied}: ${toRemedy(path, stats, me)}`
}

/** The rights may have changed again since the error. */
function statOrNothing(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

/** Why a user is denied what belongs to that user: the end of the sentence. */
function describeMode(path: string, stats: Stats): string {
  const needed = stats.isDirectory() ? 0o700 : 0o600
  const isAllowed = (stats.mode & needed) === needed
  if (isAllowed) return ': a policy of the system forbids it'
  const mode = (stats.mode & 0o777).toString(8)
  return `, but its mode is ${mode}: run: chmod u+rwX ${quotePath(path)}`
}

/** What this user does to use what belongs to another one. */
function toRemedy(path: string, stats: Stats, me: number): string {
  const isFolder = stats.isDirectory()
  if (isInContainer(me)) return `on the host, run: ${toHostCommand(me, isFolder)}`
  // Root without the right to read the files of others, such as in a container.
  if (me === 0) return `run it as ${toUser(stats.uid)}`
  const user = toUser(me)
  const isForMe = isFolder ? isNewFolder(path, stats) : isInFolderOf(me, path)
  if (isForMe) return `run as root: chown ${user} ${quotePath(path)}`
  // Root reads all, and what it writes gets the owner of its folder.
  if (isFolder) return `run it with sudo, or use a folder that belongs to ${user}`
  return 'run it with sudo'
}

/** Whether root made a folder and put nothing into it: it was made for the service, and nobody misses it. */
function isNewFolder(path: string, stats: Stats): boolean {
  return stats.uid === 0 && isEmpty(path)
}

/** Whether a file is in a folder of a user, such as a list that root copied into the folder of the service. */
function isInFolderOf(user: number, file: string): boolean {
  return statSync(dirname(file)).uid === user
}

/** The user of the image (Containerfile). */
const IMAGE_USER = 65532

/** Whether this runs in a container: as its first process, or as the user of the image, such as with `docker exec`. */
function isInContainer(me: number): boolean {
  return process.pid === 1 || me === IMAGE_USER
}

/** In a container, a path is that of a mount: what is mounted there has another path, which only the owner knows. */
function toHostCommand(me: number, isFolder: boolean): string {
  if (isFolder) return `sudo chown -R ${me} FOLDER, with the folder that is mounted there`
  return `sudo chown ${me} FILE, or, if it is only read: chmod a+r FILE, with the file that is mounted there`
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}

/** The name of a user; the number when it has none, as in a container. */
export function toUser(id: number): string {
  try {
    // Each line is NAME:PASSWORD:NUMBER and more: passwd(5).
    const entries = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
    const entry = entries.find(([name, _password, number]) => name !== '' && number === String(id))
    return entry?.[0] ?? String(id)
  } catch {
    return String(id)
  }
}

/** @param name the path; undefined for the error of a descriptor */
function describeReadOnly(name: string | undefined): string {
  const reason = 'its file system is read-only'
  if (name === undefined) return reason
  const path = findExisting(name)
  const folder = statOrNothing(path)?.isDirectory() ? path : dirname(path)
  return `${reason}; a unit of systemd may write to its StateDirectory= only: add the line ReadWritePaths=${folder} to it`
}

export const IS_FOLDER = 'it is a folder: name a file'

/** Errors of errno(3) that owners meet, in plainer words, or in words that say what to do. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: IS_FOLDER,
  ELOOP: 'it is a link to itself: delete it',
  ENAMETOOLONG: 'its name is too long: use a shorter one',
  ENOSPC: 'the disk is full',
  // As errors of SQLite say it.
  EIO: 'the disk reports an error',
  EDQUOT: 'the quota of the disk is used up',
  ESTALE: 'its share was lost: mount it again',
  EUCLEAN: 'its file system is damaged: check it, such as with fsck',
}

/**
 * Returns the fields of an error for the log: type, code, message, causes, and the stack of each that is no Failure. Redacts addresses,
 * because databases and parsers quote their input.
 */
export function toLogged(error: unknown): object {
  if (!(error instanceof Error)) return { message: redactAddresses(String(error)) }
  return {
    type: error.name,
    ...('code' in error && { code: redactAddresses(String(error.code)) }),
    message: redactAddresses(error.message),
    ...(!(error instanceof Failure) && { stack: redactAddresses(error.stack ?? '') }),
    ...(error.cause !== undefined && { cause: toLogged(error.cause) }),
  }
}

/**
 * Replaces every run of characters around an `@`: addresses, and URLs with a user. A run ends at a character that an
 * address may only have in quotes (the specials of RFC 5322 section 3.2.3). Takes linear time.
 */
export function redactAddresses(text: string): string {
  return text.replace(/[^\s"()<>[\],;]+/g, (run) => (run.includes('@') ? '[hidden]' : run))
}
