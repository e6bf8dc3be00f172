import { setTimeout as sleep } from 'node:timers/promises'

/** Waits. @throws the reason of the signal, when it is aborted before the end */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted())
}
