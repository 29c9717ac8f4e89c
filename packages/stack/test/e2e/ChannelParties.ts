/**
 * Everybody whom a call over a channel needs, on a running stack: two pairs of members, one relayed by the edge, the other by a
 * relay node behind its gate. The stack starts its own programs again when they are killed; here are the members and the node.
 */
import * as Hex from "@catenet/crypto/Hex"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { agent, type Spawned, type Stack } from "@catenet/testing/stack/e2e/Stack"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { owner, ownersToken } from "./People.ts"

export type Way = "edge" | "node"
export const ways = ["edge", "node"] as const

/** Programs of the stack, and those that are started here; a caller is one too. */
export const parties = ["edge", "control-plane", "postgres", "server", "node", "caller"] as const
export type Party = (typeof parties)[number]

const patienceMillis = 60_000

export class ChannelParties {
  readonly #stack: Stack
  readonly #nodePort: number
  readonly #members = new Map<Way, { readonly caller: Member; readonly server: Member }>()
  readonly #servers = new Map<Way, Spawned>()
  readonly #operators = new Map<Way, { readonly channel: string; readonly operator: string }>()
  #node: Spawned | undefined

  private constructor(stack: Stack, nodePort: number) {
    this.#stack = stack
    this.#nodePort = nodePort
  }

  /** `nodePort` is what the edge of the stack has as its relay node. */
  static async start(stack: Stack, nodePort: number): Promise<ChannelParties> {
    const started = new ChannelParties(stack, nodePort)
    const call = await owner(stack)
    for (const way of ways) {
      const made = makeChannel()
      const [caller, server] = [made.member("initiate"), made.member("accept")]
      const channel = Hex.encode(made.channel)
      await call("POST", "/me/channels", { channel, operator_pubkey: Hex.encode(made.operator) })
      for (const { attestation, holder, noiseKey } of [caller, server])
        await call("POST", `/me/channels/${channel}/members`, {
          holder: Hex.encode(holder),
          noise_pubkey: Hex.encode(noiseKey),
          noise_attestation: Hex.encode(attestation)
        })
      started.#members.set(way, { caller, server })
      started.#operators.set(way, { channel, operator: Hex.encode(made.operatorSeed) })
    }
    started.#startNode()
    for (const way of ways) started.#serve(way)
    return started
  }

  #variables(way: Way, { env }: Member, name: string): Readonly<Record<string, string>> {
    const frontDoor = `127.0.0.1:${this.#stack.ports.frontDoor}`
    const root = new X509Certificate(readFileSync(this.#stack.path("edge", "edge-cert.der"))).raw.toString("hex")
    return {
      ...env,
      CT_CHANNEL_BROKER: frontDoor,
      CT_CHANNEL_RELAY: frontDoor,
      CT_CHANNEL_RELAY_ONLY: "1",
      CT_CHANNEL_FRONT_DOOR: frontDoor,
      CT_CHANNEL_FRONT_DOOR_CERT: root,
      CT_CHANNEL_FRONT_DOOR_ONLY: "1",
      CT_AGENT_STATE_DIR: join(this.#stack.folder, `${name}-${way}`),
      ...(way === "edge" ? {} : { CT_CHANNEL_RELAY_GATE: frontDoor, CT_CHANNEL_RELAY_GATE_CERT: root })
    }
  }

  #startNode() {
    this.#node = agent(["relay-node"], { CT_RELAY_NODE_LISTEN: `127.0.0.1:${this.#nodePort}` })
  }

  #serve(way: Way) {
    const member = this.#members.get(way)
    if (member === undefined) throw new Error(`no member by the ${way}`)
    const serving = {
      ...this.#variables(way, member.server, "server"),
      CT_CHANNEL_SERVE: "1",
      CT_AGENT_SERVICES: "text_generation",
      CT_AGENT_SERVICE_HANDLER_CMD: "sleep 0.3; tr a-z A-Z"
    }
    this.#servers.set(way, agent(["channel"], serving))
  }

  /** Begins a call; it prints the answer. */
  call(way: Way): Spawned {
    const member = this.#members.get(way)
    if (member === undefined) throw new Error(`no member by the ${way}`)
    const line = 'exec "$0" "$@" <<EOF\nhello\nEOF'
    const variables = { ...this.#variables(way, member.caller, "caller"), CT_CHANNEL_CALL_SERVICE: "text_generation" }
    return agent(["channel"], variables, ["sh", "-c", line])
  }

  /** Kills the party with -9, and starts it again where the stack does not. */
  async kill(party: Party, way: Way, caller: Spawned): Promise<void> {
    if (party === "caller") return void caller.child.kill("SIGKILL")
    if (party === "node") {
      await this.#node?.stop("SIGKILL")
      return this.#startNode()
    }
    if (party === "server") {
      await this.#servers.get(way)?.stop("SIGKILL")
      return this.#serve(way)
    }
    const old = this.#stack.pid(party)
    process.kill(old, "SIGKILL")
    await eventually(() => this.#stack.pid(party) !== old, `a new process of the ${party}`, patienceMillis)
  }

  /** Calls until one is answered; how long that took, in milliseconds. */
  async answered(way: Way): Promise<number> {
    const from = performance.now()
    const said: Array<string> = []
    while (performance.now() - from < patienceMillis) {
      const { code, stderr, stdout } = await this.call(way).ended
      if (code === 0 && stdout === "HELLO\n") return performance.now() - from
      said.push(`${code} ${stderr.trim().split("\n").at(-1)}`)
    }
    throw new Error(`no call by the ${way} is answered within ${patienceMillis} ms:\n${said.join("\n")}`)
  }

  /** A link that one machine may use once. */
  async invite(): Promise<string> {
    const { channel = "", operator = "" } = this.#operators.get("edge") ?? {}
    const { CT_CHANNEL_FRONT_DOOR = "", CT_CHANNEL_FRONT_DOOR_CERT = "" } = this.#variables(
      "edge",
      this.#members.get("edge")!.caller,
      "inviting"
    )
    const variables = {
      CT_CHANNEL_ROLE: "accept",
      CT_CHANNEL_ID: channel,
      CT_AGENT_CP_URL: this.#stack.url(""),
      CT_OIDC_TOKEN: await ownersToken(this.#stack),
      CT_CHANNEL_OPERATOR_KEY: operator,
      CT_CHANNEL_FRONT_DOOR,
      CT_CHANNEL_FRONT_DOOR_CERT,
      CT_CHANNEL_FRONT_DOOR_ONLY: "1"
    }
    // The edge pairs without a control plane that was killed a moment ago; links need it.
    let said = ""
    const made = async () => {
      const { code, stderr, stdout } = await agent(["channel", "invite"], variables).ended
      said = `${code} ${stderr}`
      if (code !== 0 && code !== 5) throw new Error(`no link: ${said}`)
      return /^ct-agent channel join '(\S+)'\n$/.exec(stdout)?.[1]
    }
    const from = performance.now()
    while (performance.now() - from < patienceMillis) {
      const link = await made()
      if (link !== undefined) return link
    }
    throw new Error(`no link within ${patienceMillis} ms: ${said}`)
  }

  /** Uses the link on two machines at once, again and again until each has its answer; how many got in. */
  async joined(link: string, round: number): Promise<number> {
    const join = async (machine: string) => {
      const HOME = this.#stack.path(`machine-${round}-${machine}`)
      for (;;) {
        const { code } = await agent(["channel", "join", link], { HOME }).ended
        // Everything else is worth another try: the control plane may be away.
        if (code === 0 || code === 4) return code
      }
    }
    const codes = await Promise.all([join("a"), join("b")])
    return codes.filter((code) => code === 0).length
  }

  /** What the parties that run here have said last, and whether they still run. */
  words(): string {
    const own: ReadonlyArray<readonly [string, Spawned | undefined]> = [["node", this.#node], ...this.#servers]
    const said = own.map(([name, program]) => {
      const { exitCode, signalCode } = program?.child ?? {}
      const end = exitCode ?? signalCode ?? undefined
      return `${name}${end === undefined ? "" : `, ended with ${end}`}:\n${program?.stderr.slice(-2_000) ?? "not started"}`
    })
    return said.join("\n")
  }

  async stop(): Promise<void> {
    await Promise.all([this.#node, ...this.#servers.values()].map((program) => program?.stop("SIGKILL")))
  }
}
