/** What `catenet up` reads from its environment. Every listener stays on loopback unless a variable says otherwise. */
import { Config, Effect } from "effect"
import { ConfigurationInvalid } from "../ConfigurationInvalid.ts"

/** A host and port of a listener, and the variable that moves it. */
export interface Listen {
  readonly variable: string
  readonly host: string
  readonly port: number
}

export interface UpSettings {
  readonly folder: string
  /** Absent: an embedded PostgreSQL is started. */
  readonly databaseUrl: string | undefined
  readonly controlPlane: Listen
  readonly identityProvider: Listen
  readonly frontDoor: Listen
  readonly mesh: Listen
  readonly edgeAdmin: Listen
  readonly edgeMetrics: Listen
  readonly demoOrigin: Listen
}

const listen = (variable: string, standard: string) =>
  Effect.gen(function* () {
    const text = yield* Config.String(variable).pipe(Config.withDefault(standard))
    const [, host, digits] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(text.trim()) ?? []
    const port = Number(digits)
    if (host === undefined || !(port >= 1 && port <= 65_535))
      return yield* ConfigurationInvalid.of(
        variable,
        `is "${text}", which is not a host and a port. Write it like ${standard}.`
      )
    return { variable, host: host.replace(/^\[|\]$/g, ""), port }
  })

/** The names that are read here. */
export const names = (settings: UpSettings): ReadonlySet<string> =>
  new Set([
    "CT_STACK_FOLDER",
    "CT_CP_DATABASE_URL",
    ...Object.values(settings).flatMap((value) => (typeof value === "object" ? [value.variable] : []))
  ])

export const read = Effect.gen(function* () {
  return {
    folder: yield* Config.String("CT_STACK_FOLDER").pipe(Config.withDefault(".catenet")),
    databaseUrl: yield* Config.String("CT_CP_DATABASE_URL").pipe(Config.withDefault(undefined)),
    controlPlane: yield* listen("CT_CONTROL_PLANE_LISTEN", "127.0.0.1:8090"),
    identityProvider: yield* listen("CT_IDP_LISTEN", "127.0.0.1:8091"),
    frontDoor: yield* listen("CT_FRONT_DOOR", "127.0.0.1:8443"),
    mesh: yield* listen("CT_EDGE_LISTEN", "127.0.0.1:4433"),
    edgeAdmin: yield* listen("CT_EDGE_ADMIN_LISTEN", "127.0.0.1:9601"),
    edgeMetrics: yield* listen("CT_EDGE_METRICS_LISTEN", "127.0.0.1:9600"),
    demoOrigin: yield* listen("CT_DEMO_ORIGIN_LISTEN", "127.0.0.1:8092")
  } satisfies UpSettings
})
