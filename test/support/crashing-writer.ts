/** A preload for the service: on SIGUSR2, ends its writer thread as a crash would. */

const Thread = globalThis.Worker

globalThis.Worker = class extends Thread {
  constructor(...args: ConstructorParameters<typeof Thread>) {
    super(...args)
    process.once('SIGUSR2', () => {
      // Under load, the thread has got a group of addresses by then that it does not append.
      this.postMessage = () => {}
      setTimeout(() => this.terminate(), 20)
    })
  }
}
