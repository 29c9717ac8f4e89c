/** What a process holds, for comparing before and after: sockets it accepted, descriptors, memory in use. */
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { existsSync, readdirSync } from "node:fs"
import { Socket } from "node:net"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const channel = "net.server.socket"
const MiB = 1024 * 1024

const isAccepted = (message: unknown): message is { readonly socket: Socket } =>
  typeof message === "object" && message !== null && "socket" in message && message.socket instanceof Socket

/** How far a socket has come, for a report. */
const state = (socket: Socket) =>
  Object.entries({
    destroyed: socket.destroyed,
    closed: socket.closed,
    paused: socket.isPaused(),
    "input ended": socket.readableEnded,
    "output ended": socket.writableEnded,
    "output finished": socket.writableFinished
  }).flatMap(([word, holds]) => (holds ? [word] : []))

export class OpenSockets {
  readonly #sockets = new Set<Socket>()
  readonly #seen = (message: unknown) => {
    if (!isAccepted(message)) return
    const { socket } = message
    this.#sockets.add(socket)
    socket.once("close", () => this.#sockets.delete(socket))
  }

  constructor() {
    subscribe(channel, this.#seen)
  }

  /** Every accepted socket that is still open, in words. */
  open(nameOf: (ports: string) => string): ReadonlyArray<string> {
    return Array.from(this.#sockets, (socket) => {
      const ports = `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`
      const moved = `${socket.bytesRead} bytes read, ${socket.bytesWritten} written`
      return `${nameOf(ports)}, ports ${ports}: ${[moved, ...state(socket)].join(", ")}`
    })
  }

  end(): void {
    unsubscribe(channel, this.#seen)
  }
}

/** Open descriptors of this process; absent where the system does not say. */
export const descriptors = (): number | undefined =>
  existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : undefined

/** Megabytes of live objects and of what they keep outside of the heap, after everything else was collected. */
export const megabytes = async (): Promise<{ readonly heap: number; readonly external: number }> => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  // What ends with an object of the first time, such as the native half of a connection, is collected the second time.
  for (let times = 0; times < 3; times++) {
    if (typeof collect === "function") collect()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { external, heapUsed } = process.memoryUsage()
  return { heap: heapUsed / MiB, external: external / MiB }
}
