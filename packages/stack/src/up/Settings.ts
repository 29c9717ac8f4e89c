/** What `catenet up` reads from its environment. Every listener stays on loopback unless a variable says otherwise. */
import type { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { parseAddress } from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { databaseUrl } from "@catenet/platform/SecretParser"
import { defaulted, optional } from "@catenet/platform/Variable"
import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, type Redacted } from "effect"

/** A host and port of a listener, and the variable that moves it. */
export interface Listen {
  readonly variable: string
  readonly host: string
  readonly port: number
}

export interface UpSettings {
  readonly folder: string
  /** Absent: an embedded PostgreSQL is started. */
  readonly databaseUrl: Redacted.Redacted | undefined
  readonly controlPlane: Listen
  readonly identityProvider: Listen
  readonly frontDoor: Listen
  readonly mesh: Listen
  readonly edgeAdmin: Listen
  readonly edgeMetrics: Listen
  readonly demoOrigin: Listen
  readonly acme: Listen
  /** Seconds that the certificates of the development authorities are valid. */
  readonly certificateLifetime: number
  /** Daily backups of a platform that are kept. */
  readonly backups: number
}

const listen = (name: string, standard: string, meaning: string) => {
  const parser = Parser.make("a host and a port", (text) => {
    const address = parseAddress(text)
    return address === undefined || address.port === 0 ? undefined : { ...address, variable: name }
  })
  return defaulted(
    name,
    Parser.quoted(Parser.described(parser, { remedy: `write it like ${standard}` })),
    standard,
    meaning
  )
}

/** Of the development authorities. Short ones show how certificates are renewed. */
export const certificateLifetime = defaulted(
  "CT_ACME_SERVER_LIFETIME_SECS",
  Parser.whole(10, 31_536_000),
  "7776000",
  "Lifetime of the development authorities' certificates, in seconds."
)

const demoOrigin = listen("CT_DEMO_ORIGIN_LISTEN", "127.0.0.1:8092", "Address of the page behind the demo tunnel.")

export const variables = {
  folder: defaulted("CT_STACK_FOLDER", Parser.writablePath, ".catenet", "Folder for all data."),
  databaseUrl: optional(
    "CT_CP_DATABASE_URL",
    databaseUrl,
    "URL of a PostgreSQL database to use instead of the embedded one."
  ),
  controlPlane: listen("CT_CONTROL_PLANE_LISTEN", "127.0.0.1:8090", "Address of the control plane."),
  identityProvider: listen("CT_IDP_LISTEN", "127.0.0.1:8091", "Address of the identity provider."),
  frontDoor: listen("CT_FRONT_DOOR", "127.0.0.1:8443", "Address at which visitors connect."),
  mesh: listen("CT_EDGE_LISTEN", "127.0.0.1:4433", "Address at which agents register."),
  edgeAdmin: listen("CT_EDGE_ADMIN_LISTEN", "127.0.0.1:9601", "Address of the edge's admin API."),
  edgeMetrics: listen("CT_EDGE_METRICS_LISTEN", "127.0.0.1:9600", "Address of the edge's metrics."),
  demoOrigin,
  acme: listen("CT_ACME_SERVER_LISTEN", "127.0.0.1:8093", "Address of the development certificate authorities."),
  certificateLifetime,
  backups: defaulted(
    "CT_STACK_BACKUPS",
    Parser.whole(0, 365),
    "7",
    "Daily backups of a platform on its own domain that are kept in the data folder; 0 makes none."
  )
} as const

/** The names that are read here. */
export const names: ReadonlySet<string> = new Set(VariableReader.namesOf(variables))

export const read: Effect.Effect<UpSettings, ConfigurationInvalid> = VariableReader.read(variables).pipe(
  Effect.provide(NodeFileSystem.layer)
)

/** What `catenet origin` reads. */
export const readOrigin = Effect.map(
  VariableReader.read({ demoOrigin }).pipe(Effect.provide(NodeFileSystem.layer)),
  ({ demoOrigin }) => demoOrigin
)
