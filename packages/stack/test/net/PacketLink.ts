/**
 * A place behind a bad network of real packets: programs that run there reach this machine's ports by ferries, and the edge at
 * {@link edgeAddress} only through what {@link PacketLink.weather} says. Needs the right to make user and network namespaces.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process"
import type { Server } from "node:net"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as DatagramFerry from "./DatagramFerry.ts"
import { ferry } from "./Ferry.ts"
import type { Weather } from "./Middle.ts"

const middleProgram = join(dirname(fileURLToPath(import.meta.url)), "Middle.ts")

/** Where programs behind the link find the edge. */
export const edgeAddress = "203.0.113.1:443"

/** Why this machine cannot have packet links, or undefined when it can. */
export const impossible = (): string | undefined => {
  const trial =
    "ip link set lo up && ip link add far type vxlan id 1 dstport 4789 local 127.0.0.1 remote 127.0.0.1 && " +
    "ip link add one type veth peer name other && unshare -n true"
  try {
    execFileSync("unshare", ["--map-root-user", "--net", "sh", "-c", trial], { stdio: "pipe" })
    return undefined
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

export class PacketLink {
  readonly #middle: ChildProcess
  readonly #ferries: ReadonlyArray<Server>
  /** What to run before a program so that it runs behind the link. */
  readonly behind: ReadonlyArray<string>

  private constructor(middle: ChildProcess, ferries: ReadonlyArray<Server>, far: number) {
    this.#middle = middle
    this.#ferries = ferries
    const target = ["--target", String(far), "--user", "--preserve-credentials", "--net"]
    this.behind = ["nsenter", ...target]
  }

  /** `ports` of this machine's loopback have the same numbers there. */
  static async open(folder: string, name: string, edge: number, ports: ReadonlyArray<number>): Promise<PacketLink> {
    const at = (what: string | number) => join(folder, `${name}-${what}`)
    const ferries = await Promise.all([
      ferry(at("edge"), `127.0.0.1:${edge}`),
      DatagramFerry.toPort(at("edge-udp"), edge),
      ...ports.map((port) => ferry(at(port), `127.0.0.1:${port}`))
    ])
    const nearFerries = [edgeAddress, at("edge"), `udp:${edgeAddress}`, at("edge-udp")]
    const farFerries = ports.flatMap((port) => [`127.0.0.1:${port}`, at(port)])
    const args = [process.execPath, middleProgram, JSON.stringify(nearFerries), JSON.stringify(farFerries)]
    const middle = spawn("unshare", ["--map-root-user", "--net", ...args], { stdio: ["pipe", "pipe", "inherit"] })
    const { far } = await new Promise<{ readonly far: number }>((resolve, reject) => {
      createInterface({ input: middle.stdout }).once("line", (line) => resolve(JSON.parse(line)))
      middle.once("exit", (code) => reject(new Error(`the middle of a packet link ended with ${code}`)))
    })
    return new PacketLink(middle, ferries, far)
  }

  weather(weather: Weather) {
    this.#middle.stdin?.write(`${JSON.stringify(weather)}\n`)
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#middle.once("exit", resolve))
    this.#middle.stdin?.end()
    await ended
    for (const server of this.#ferries) server.close()
  }
}
