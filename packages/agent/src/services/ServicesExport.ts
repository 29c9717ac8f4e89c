/**
 * The file of services that an account's tunnels make. A file that is given keeps its text, its comments and everything that it
 * says; services and options that it lacks are added.
 */
import { type Rules, StoredRules } from "@catenet/domain/rules/Rules"
import { labelOf } from "@catenet/domain/tunnels/HostnameOwnership"
import { schemaPath, ServiceEntry } from "@catenet/domain/tunnels/ServicesFile"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { Schema } from "effect"
import type * as Yaml from "yaml"
import type { OriginOptions } from "../account/Exposure.ts"
import { printable } from "../terminal/Log.ts"
import * as ServiceKind from "./ServiceKind.ts"

export interface Given {
  readonly text: string
  readonly services: Readonly<Record<string, ServiceEntry>>
}

export interface Exported {
  readonly text: string
  /** Services whose `to` has to be filled in. */
  readonly open: ReadonlyArray<string>
  /** Why tunnels are not in the file. */
  readonly left: ReadonlyArray<string>
}

const ofAccount = new Set([
  "to",
  "tcp",
  "udp",
  "mcp",
  "port",
  "name",
  "host",
  "rules",
  "join_token",
  "token",
  "bootstrap"
])
/** Options of which an account knows nothing. */
const ownOptions = Object.keys(ServiceEntry.fields).filter((option) => !ofAccount.has(option))

/** A file without services yet. */
export const empty = (controlPlane: string): Given => ({
  text: [
    `# yaml-language-server: $schema=${controlPlane}${schemaPath}`,
    "# Written by ct-agent export. Your account knows tunnels, host names, public ports and rules. The rest is the agent's own: here is",
    `# what ct-agent http was told on this machine. Set what else a service needs: ${ownOptions.join(", ")}.`,
    "",
    `control_plane: ${JSON.stringify(controlPlane)}`,
    ""
  ].join("\n"),
  services: {}
})

/** The host name that its owner chose; the platform gives a new tunnel of this name the other ones again. */
const chosenHost = ({ hostname, hostname_proof, name }: Tunnel) => {
  const host = hostname ?? hostname_proof?.hostname
  const isAssigned =
    hostname_proof?.hostname !== host &&
    /^-[0-9a-f]{8}\./u.test((host ?? "").slice(labelOf(name).length)) &&
    host?.startsWith(labelOf(name)) === true
  return isAssigned ? undefined : host
}

const keyOf = (name: string, taken: ReadonlySet<string>) => {
  const label = labelOf(name).replace(/-+$/u, "")
  for (let number = 1; ; number++) {
    const key = number === 1 ? label : `${label}-${number}`
    if (!taken.has(key)) return key
  }
}

const isServedBy =
  ({ hostname, name }: Tunnel) =>
  ([key, entry]: readonly [string, ServiceEntry]) =>
    (entry.token !== undefined || entry.bootstrap !== undefined) && ServiceKind.of(entry) === "http"
      ? entry.host === hostname
      : (entry.name ?? key) === name

const encodeRules = Schema.encodeUnknownSync(StoredRules)

/** A tunnel of the account. */
export interface Owned {
  readonly tunnel: Tunnel
  /** Where its service is on this machine, if that is known. */
  readonly origin: string | undefined
  /** What its agent was told of it there, and the account does not know. */
  readonly options: OriginOptions
  readonly rules: Rules
}

export const write = (yaml: typeof Yaml, tunnels: ReadonlyArray<Owned>, { services, text }: Given): Exported => {
  const document = yaml.parseDocument(text)
  const known = document.get("services")
  const all = yaml.isMap(known) ? known : new yaml.YAMLMap()
  if (all !== known) document.set("services", all)
  const [open, left, seen]: [Array<string>, Array<string>, Set<string>] = [[], [], new Set()]
  const keys = new Set(Object.keys(services))
  for (const { options, origin, rules, tunnel } of tunnels) {
    const { kind, name, port, tls } = tunnel
    const ruled = rules.length > 0 && { rules: document.createNode(encodeRules(rules)) }
    const host = chosenHost(tunnel)
    if (seen.has(name)) left.push(`another tunnel is called ${name}, too; rename one of them`)
    else {
      seen.add(name)
      const found = Object.entries(services).find(isServedBy(tunnel))?.[0]
      const entry = all.items.find(({ key }) => String(key) === found)?.value
      if (yaml.isMap(entry) && host !== undefined && !entry.has("host")) entry.set("host", host)
      if (yaml.isMap(entry) && ruled && !entry.has("rules")) entry.set("rules", ruled.rules)
      if (found !== undefined) continue
      const key = keyOf(name, keys)
      const [, command] = /^mcp:(.+)$/su.exec(origin ?? "") ?? []
      const to = document.createNode(command ?? origin ?? null)
      if (to.value === null) {
        open.push(key)
        to.comment = ` the local service: a port${kind === "http" ? ", host:port or http://host:port" : " or host:port"}`
      }
      keys.add(key)
      all.set(
        document.createNode(key),
        document.createNode({
          [command !== undefined ? "mcp" : kind === "http" ? "to" : kind]: to,
          ...(kind === "http" && options),
          ...(name !== key && { name }),
          ...(host !== undefined && { host }),
          ...(port !== null && { port }),
          ...(tls && { tls }),
          ...ruled
        })
      )
    }
  }
  return { text: document.toString({ lineWidth: 0, nullStr: "" }), open, left: left.map(printable) }
}
