/** Which area of a package may use which: the tables of the design. Areas of the same name hold the same subject. */
import { assert, describe, it } from "vitest"
import { importsOf, sourceFiles, targetOf } from "./Imports.ts"

type Table = Readonly<Record<string, ReadonlyArray<string>>>

/** `values` may be used by every area. */
const domain: Table = {
  values: [],
  identity: [],
  billing: [],
  rules: [],
  edges: ["channels", "rules"],
  enrollment: [],
  tunnels: ["edges", "enrollment", "rules"],
  certificates: ["tunnels", "edges"],
  channels: ["identity"],
  topologies: ["channels"],
  agents: [],
  api: [
    "identity",
    "billing",
    "certificates",
    "edges",
    "enrollment",
    "tunnels",
    "channels",
    "topologies",
    "agents",
    "rules"
  ]
}

/** `runtime`, `settings`, `fastpath`, `store` and `http` may be used by every area above them. */
const shared = ["runtime", "settings", "fastpath", "store", "http"]
const server: Table = {
  runtime: [],
  settings: [],
  fastpath: [],
  store: [],
  http: [],
  dns: [],
  releases: [],
  notices: [],
  identity: [],
  billing: ["identity"],
  edges: ["identity"],
  enrollment: ["identity", "edges"],
  tunnels: ["identity", "edges", "enrollment", "dns"],
  certificates: ["tunnels", "edges", "dns"],
  channels: ["identity", "tunnels", "edges"],
  topologies: ["identity", "channels"],
  agents: ["identity"],
  accounts: ["channels", "identity", "edges", "tunnels", "topologies"],
  gate: ["identity", "tunnels", "portal"],
  signin: ["notices"],
  portal: [
    "identity",
    "notices",
    "billing",
    "edges",
    "enrollment",
    "tunnels",
    "certificates",
    "channels",
    "topologies",
    "accounts",
    "releases",
    "observability"
  ],
  observability: ["identity", "edges"],
  api: [
    "identity",
    "billing",
    "edges",
    "enrollment",
    "tunnels",
    "certificates",
    "channels",
    "topologies",
    "agents",
    "accounts",
    "gate",
    "portal",
    "observability"
  ]
}

/** `observe` and `settings` may be used by every area above them. */
const sharedInEdge = ["observe", "settings"]
const edge: Table = {
  observe: [],
  settings: [],
  listen: [],
  routes: [],
  sqlite: [],
  tls: [],
  ca: ["tls"],
  control: ["ca"],
  audit: ["sqlite", "routes", "listen"],
  sessions: ["routes", "sqlite", "audit", "control"],
  history: ["sqlite", "ca", "routes", "sessions"],
  relay: ["listen", "sessions"],
  mesh: ["audit", "relay", "routes", "sessions", "ca", "control"],
  terminate: ["listen", "relay", "routes", "sessions", "tls", "control"],
  channels: ["audit", "listen", "relay", "control", "ca", "mesh", "sessions"],
  frontdoor: ["channels", "listen", "mesh", "audit", "sessions", "ca", "tls", "ports", "routes", "terminate", "relay"],
  ports: ["audit", "listen", "mesh", "relay", "routes", "sessions", "tls"],
  orders: ["channels", "terminate", "listen", "relay", "frontdoor", "sessions", "control", "routes", "tls"],
  quic: ["listen", "routes", "mesh", "audit", "sessions", "ca", "tls", "orders", "channels"],
  processes: [
    "channels",
    "quic",
    "frontdoor",
    "terminate",
    "listen",
    "orders",
    "ports",
    "relay",
    "routes",
    "sessions",
    "ca",
    "audit",
    "tls",
    "control"
  ],
  metrics: ["channels", "listen", "processes", "sessions", "frontdoor", "relay"],
  admin: ["channels", "history", "processes", "routes", "sessions", "listen", "orders"]
}

const areaOf = (name: string, file: string | undefined) =>
  file === undefined ? undefined : new RegExp(`^packages/${name}/src/([^/]+)/`).exec(file)?.[1]

/** Arrows between the folders of a package, as `from > to`, with an import for each. */
const arrowsOf = (name: string, folderOf: (file: string | undefined) => string | undefined) =>
  new Map(
    sourceFiles(name).flatMap((file) =>
      importsOf(file).flatMap((found) => {
        const [from, to] = [folderOf(file), folderOf(targetOf(found))]
        return from === undefined || to === undefined || from === to
          ? []
          : [[`${from} > ${to}`, `${file} imports ${found.specifier}`] as const]
      })
    )
  )

const hold = (name: string, table: Table, everywhere: ReadonlyArray<string>) => {
  const arrows = arrowsOf(name, (file) => areaOf(name, file))

  it(`${name} has the areas of its table`, () => {
    const areas = new Set(sourceFiles(name).flatMap((file) => areaOf(name, file) ?? []))
    assert.sameMembers([...areas], Object.keys(table))
  })

  it(`areas of ${name} use each other along the arrows of its table`, () => {
    for (const [arrow, example] of arrows) {
      const [from = "", to = ""] = arrow.split(" > ")
      const rank = everywhere.indexOf(from)
      const permitted = [...(table[from] ?? []), ...(rank < 0 ? everywhere : everywhere.slice(0, rank))]
      assert.isTrue(permitted.includes(to), `${arrow}: ${example}`)
    }
  })

  it(`the table of ${name} names no arrow that is not there`, () => {
    for (const [from, targets] of Object.entries(table))
      for (const to of targets) assert.isTrue(arrows.has(`${from} > ${to}`), `${from} > ${to}`)
  })
}

/** Fails with the folders of a cycle, if there is one. */
const isAcyclic = (name: string) => {
  const below = new RegExp(`^packages/${name}/src/(.+)/[^/]+$`)
  const folderOf = (file: string | undefined) => (file === undefined ? undefined : below.exec(file)?.[1])
  const next = new Map<string, Array<string>>()
  for (const arrow of arrowsOf(name, folderOf).keys()) {
    const [from = "", to = ""] = arrow.split(" > ")
    next.set(from, [...(next.get(from) ?? []), to])
  }
  const finished = new Set<string>()
  const visit = (folder: string, path: ReadonlyArray<string>): void => {
    if (finished.has(folder)) return
    const start = path.indexOf(folder)
    assert.strictEqual(start, -1, `folder cycle: ${[...path.slice(Math.max(start, 0)), folder].join(" > ")}`)
    for (const to of next.get(folder) ?? []) visit(to, [...path, folder])
    finished.add(folder)
  }
  for (const folder of next.keys()) visit(folder, [])
}

describe("the areas inside", () => {
  hold("domain", domain, ["values"])
  hold("server", server, shared)
  hold("edge", edge, sharedInEdge)

  for (const name of ["domain", "crypto", "wire", "proxy", "server", "edge", "agent", "idp", "stack"])
    it(`${name} has no cycle of folders`, () => isAcyclic(name))
})
