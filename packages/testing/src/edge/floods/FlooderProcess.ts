/** The flooding process, as those see it who measure beside it. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import type { Target } from "./Flood.ts"
import type { Kind } from "./Kinds.ts"

export class Flooder {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(target: Target): Promise<Flooder> {
    const file = new URL("flooder.ts", import.meta.url)
    const child = fork(file, [JSON.stringify(target)], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
    await once(child, "message")
    return new Flooder(child)
  }

  /** Measures while this kind of flood runs. Fails where the flood made no connection. */
  async during<A>(kind: Kind, measure: () => Promise<A>): Promise<A> {
    await this.#say(kind)
    const measured = await measure()
    if ((await this.#say("none")) === 0) throw new Error(`no connection was made for the flood of ${kind}`)
    return measured
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit")
    this.#child.disconnect()
    await ended
  }

  async #say(kind: string): Promise<number> {
    const heard = once(this.#child, "message")
    this.#child.send(kind)
    const [connections]: Array<unknown> = await heard
    return Number(connections)
  }
}
