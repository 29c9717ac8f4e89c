/** A whole edge in this process with everything it needs around it: folder, certificates, control plane, admin client. */
import { mintLeaf, mintRoot, pem } from "@catenet/crypto/x509/Certificate"
import { Edge, type Bound } from "@catenet/edge/internal/Edge"
import { ConfigProvider, Context, Effect, Layer, type LogLevel, References } from "effect"
import { generateKeyPairSync, X509Certificate } from "node:crypto"
import { writeFileSync, readFileSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Settings } from "../../../edge/src/settings/Settings.ts"
import { temporaryRoot } from "../TemporaryRoot.ts"
import { adminToken, startControlPlane, type ScriptedControlPlane } from "./ControlPlane.ts"

export const token = (digit: string) => digit.repeat(64)

const day = 86_400_000

/** A certificate for hosts, with the root that signed it. Real time: clients check it. */
export const mintPair = (hosts: ReadonlyArray<string>) => {
  const key = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const now = Date.now()
  const validity = { from: now - day, until: now + 30 * day }
  const caKey = key()
  const leafKey = key()
  const root = mintRoot("test root", caKey, validity)
  const leaf = mintLeaf("test root", caKey, leafKey, hosts, validity)
  return { root: pem(root), cert: pem(leaf), key: leafKey.export({ format: "pem", type: "pkcs8" }).toString() }
}

export interface TestEdge {
  readonly bound: Bound
  readonly folder: string
  /** Root of the wildcard certificate, PEM. */
  readonly wildcardRoot: string
  /** Root of the internal CA, PEM. */
  readonly meshRoot: string
  readonly controlPlane: ScriptedControlPlane
  readonly frontDoor: number
  readonly mesh: number
  /** A call of the admin API; the status, and the body if it is JSON. */
  readonly admin: (method: string, path: string, options?: AdminCall) => Promise<{ status: number; body: unknown }>
  readonly authorize: (token: string, host: string, tier?: "gelb") => Promise<void>
  readonly metrics: () => Promise<Record<string, number>>
}

interface AdminCall {
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

const parseMetrics = (text: string) =>
  Object.fromEntries(
    text.split("\n").flatMap((line) => {
      const match = /^(ct_edge_[a-z_]+(?:\{[^}]*\})?) (\S+)$/.exec(line)
      return match === null ? [] : [[match[1], Number(match[2])]]
    })
  )

/** Starts an edge for the life of the scope. `variables` are added to a complete configuration. */
export const start = Effect.fn("TestEdge.start")(function* (
  variables: Record<string, string> = {},
  options: {
    readonly folder?: string
    readonly controlPlane?: ScriptedControlPlane
    /** What it logs, to the loggers of the caller; nothing by default. */
    readonly logLevel?: LogLevel.LogLevel
  } = {}
) {
  const folder = options.folder ?? (yield* temporaryFolder)
  const controlPlane = options.controlPlane ?? (yield* startControlPlane)
  const wildcard = mintPair(["*.zone.test", "localhost"])
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const context = yield* Layer.build(
    Layer.fresh(Edge.layerNoDeps).pipe(
      Layer.provide(Layer.fresh(Settings.layer)),
      Layer.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown({
            CT_EDGE_LISTEN: "127.0.0.1:0",
            CT_FRONT_DOOR: "127.0.0.1:0",
            CT_EDGE_ADMIN_LISTEN: "127.0.0.1:0",
            CT_EDGE_METRICS_LISTEN: "127.0.0.1:0",
            CT_EDGE_ADMIN_TOKEN: adminToken,
            CT_EDGE_CP_URL: controlPlane.url,
            CT_EDGE_CERT_OUT: join(folder, "edge-cert.der"),
            CT_EDGE_WILDCARD_CERT: file("wildcard.pem", wildcard.cert),
            CT_EDGE_WILDCARD_KEY: file("wildcard-key.pem", wildcard.key),
            CT_EDGE_SHUTDOWN_GRACE_SECS: "0",
            // A process of its own, for the tests that speak it.
            CT_EDGE_QUIC: "off",
            ...variables
          })
        )
      )
    )
  ).pipe(Effect.provideService(References.MinimumLogLevel, options.logLevel ?? "None"))
  const bound = Context.get(context, Edge)
  const admin: TestEdge["admin"] = async (method, path, { headers, body } = {}) => {
    const response = await fetch(`http://127.0.0.1:${bound.admin?.port}${path}`, {
      method,
      headers: {
        "x-ct-admin-token": adminToken,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text }
  }
  const world: TestEdge = {
    bound,
    folder,
    wildcardRoot: wildcard.root,
    meshRoot: pem(readFileSync(join(folder, "edge-cert.der"))),
    controlPlane,
    frontDoor: bound.frontDoor?.port ?? 0,
    mesh: bound.mesh.port,
    admin,
    authorize: async (token, host, tier) => {
      const { status } = await admin(
        "POST",
        `/admin/authorize-host/${token}/${host}${tier === undefined ? "" : "?channel_tier=gelb"}`
      )
      if (status !== 200) throw new Error(`authorize-host answered ${status}`)
    },
    metrics: async () => parseMetrics(await (await fetch(`http://127.0.0.1:${bound.metrics?.port}/metrics`)).text())
  }
  return world
})

/** In memory where there is plenty: an edge waits for the disk when it writes a key, for seconds where others delete much. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(temporaryRoot(), "catenet-edge-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The certificate a PEM root stands for, for comparisons. */
export const fingerprint = (certificate: string) => new X509Certificate(certificate).fingerprint256

export { eventually } from "../Eventually.ts"
