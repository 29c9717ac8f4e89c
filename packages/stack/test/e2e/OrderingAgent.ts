/** An agent that ends its visitors' TLS with a certificate that it orders at the stack's own authority. */
import { eventually } from "@catenet/testing/Eventually"
import { agent, type Spawned, type Stack } from "@catenet/testing/stack/e2e/Stack"
import { dial } from "@catenet/testing/stack/e2e/Visitor"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { provision, type Tunnel } from "./Tunnel.ts"

export interface OrderingAgent {
  readonly process: Spawned
  readonly folder: string
  /** What it ordered, as it lies in its folder. */
  readonly certificate: () => X509Certificate | undefined
}

const joinToken = async (stack: Stack) => {
  const answer = await stack.admin("POST", "/enroll/issue", { tenant: "tester" })
  return ((await answer.json()) as { readonly token: string }).token
}

export const certificateIn = (folder: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(readFileSync(join(folder, "fullchain.pem")))
  } catch {
    return undefined
  }
}

/** Starts an agent of the tunnel with folders of its own; the agents of one tunnel differ by name. */
export const order = async (
  stack: Stack,
  { hostname, variables }: Tunnel,
  name: string,
  more: Readonly<Record<string, string>> = {}
): Promise<OrderingAgent> => {
  const state = join(stack.folder, `agent-${hostname}-${name}`)
  const folder = join(state, "certificate")
  const process = agent([], {
    ...variables,
    CT_AGENT_JOIN_TOKEN: await joinToken(stack),
    CT_AGENT_ORIGIN_TLS: "terminate",
    CT_AGENT_STATE_DIR: state,
    CT_AGENT_EDGE_CERT: join(state, "edge-cert.der"),
    CT_ACME_CERT_OUT_DIR: folder,
    CT_ACME_CA_FILE: stack.path("development-root.pem"),
    ...more
  })
  await process.printed("visitors of", 60_000)
  return { process, folder, certificate: () => certificateIn(folder) }
}

/** The certificate that a visitor is shown. */
export const shown = async ({ target }: Tunnel): Promise<X509Certificate | undefined> => {
  const socket = await dial(target)
  const certificate = socket.getPeerX509Certificate()
  socket.destroy()
  return certificate
}

/** A tunnel whose visitors are shown a certificate of the edge that has its name: the development one is made anew for it. */
export const tunnel = async (stack: Stack, hostname: string, origin: { readonly port: number }): Promise<Tunnel> => {
  const made = await provision(stack, hostname, origin.port)
  const isCovered = () =>
    shown(made).then(
      () => true,
      () => false
    )
  await eventually(isCovered, "the edge has a certificate for the name")
  return made
}
