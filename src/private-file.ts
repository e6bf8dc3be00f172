import { closeSync, fchmodSync, openSync } from 'node:fs'

/** Only the owner may read and write a file with addresses. */
export const PRIVATE_MODE = 0o600

/**
 * Creates an empty file that only its owner can read, whatever the umask is.
 *
 * @throws EEXIST when there is such a file or symbolic link
 */
export function createPrivateFile(path: string): void {
  const descriptor = openSync(path, 'wx', PRIVATE_MODE)
  try {
    // The umask may have taken permissions from the owner.
    fchmodSync(descriptor, PRIVATE_MODE)
  } finally {
    closeSync(descriptor)
  }
}
