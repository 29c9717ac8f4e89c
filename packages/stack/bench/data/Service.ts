/** Helper processes of the benchmarks: each is a file that is forked, says once where it listens, and ends with its parent. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"

export interface Service<A> {
  readonly child: ChildProcess
  readonly pid: number
  /** What it said when it was ready. */
  readonly said: A
  readonly stop: () => Promise<void>
}

/** Starts `file` with `options` as its only argument. Rejects when it ends before it is ready. */
export const start = async <A>(file: URL, options: object = {}): Promise<Service<A>> => {
  const child = fork(file, [JSON.stringify(options)], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const ended = once(child, "exit")
  const [said]: Array<A> = await Promise.race([
    once(child, "message"),
    ended.then(([code]) => {
      throw new Error(`${file.pathname} ended with ${String(code)} before it was ready`)
    })
  ])
  if (said === undefined) throw new Error(`${file.pathname} said nothing`)
  return {
    child,
    pid: child.pid ?? -1,
    said,
    stop: async () => {
      if (child.connected) child.disconnect()
      await ended
    }
  }
}

/** In a helper process: says that it is ready, and ends when the parent is gone. */
export const ready = (said: object): void => {
  process.on("disconnect", () => process.exit())
  process.send?.(said)
}

export const optionsOf = (): Readonly<Record<string, unknown>> => {
  const options: Readonly<Record<string, unknown>> = JSON.parse(process.argv[2] ?? "{}")
  return options
}
