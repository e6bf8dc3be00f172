/** Loaded into a service before its own code: at SIGUSR2 its writer thread ends, as if it had crashed. */

const Thread = globalThis.Worker

globalThis.Worker = class extends Thread {
  constructor(...args: ConstructorParameters<typeof Thread>) {
    super(...args)
    process.once('SIGUSR2', () => this.terminate())
  }
}
