import type { Result } from '../../result.ts'
import { StoreError } from '../../subscriber.ts'

/**
 * Runs one task on a thread of its own, so that this one can receive signals.
 *
 * @param script of the thread: takes the request as a message, and replies with the value or one line that says what
 * went wrong
 * @throws StoreError with that line; the reason of the signal when it aborts
 */
export async function runOnThread<Request, Value>(script: URL, request: Request, signal: AbortSignal): Promise<Value> {
  const worker = new Worker(script.href)
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  worker.onmessage = ({ data }: MessageEvent<Result<Value, string>>) => {
    if (data.ok) resolve(data.value)
    else reject(new StoreError(data.reason))
  }
  worker.onerror = ({ message }) => reject(new StoreError(`the list cannot be copied: ${message}`))
  signal.addEventListener('abort', () => reject(signal.reason))
  worker.postMessage(request)
  try {
    signal.throwIfAborted()
    return await promise
  } finally {
    worker.terminate()
  }
}
