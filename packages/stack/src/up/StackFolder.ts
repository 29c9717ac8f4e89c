/** The stack's folder: where everything that must survive a restart lives. */
import { join, resolve } from "node:path"

export interface StackFolder {
  readonly root: string
  readonly logs: string
  readonly postgres: string
  readonly releases: string
  readonly idp: string
  readonly edge: string
  readonly edgeRoot: string
  readonly secrets: string
  readonly processes: string
  readonly developmentRoot: string
  readonly developmentRootKey: string
  readonly wildcardCertificate: string
  readonly wildcardKey: string
  readonly demoAgent: string
  readonly demoTunnel: string
  readonly account: string
  readonly accountFile: string
  readonly demoCaller: string
  readonly demoCallerState: string
  readonly demoMemberState: string
}

export const at = (path: string): StackFolder => {
  const root = resolve(path)
  const inside = (...names: ReadonlyArray<string>) => join(root, ...names)
  return {
    root,
    logs: inside("logs"),
    postgres: inside("postgres"),
    releases: inside("releases"),
    idp: inside("idp"),
    edge: inside("edge"),
    edgeRoot: inside("edge", "edge-cert.der"),
    secrets: inside("secrets.json"),
    processes: inside("processes.json"),
    developmentRoot: inside("development-root.pem"),
    developmentRootKey: inside("development-root-key.pem"),
    wildcardCertificate: inside("demo-zone.pem"),
    wildcardKey: inside("demo-zone-key.pem"),
    demoAgent: inside("demo-agent"),
    demoTunnel: inside("demo-tunnel.env"),
    account: inside("my-account"),
    accountFile: inside("my-account.env"),
    demoCaller: inside("demo-caller.env"),
    demoCallerState: inside("demo-caller"),
    demoMemberState: inside("demo-member")
  }
}
