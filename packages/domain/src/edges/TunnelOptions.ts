/**
 * Options of a tunnel: its owner sets them, its edges apply them. One struct is stored, ordered, restored, kept in the
 * route table, and offered by the API and the portal. A new option needs a field here, a label and hint in each
 * language, and the code that applies it.
 */
import { Effect, Schema, Struct } from "effect"
import { literal } from "../values/Pattern.ts"

/**
 * Whether an agent has to prove that it holds an enrolled key before it may serve a tunnel. The routing token alone is
 * known to everyone who was ever given it.
 *
 * - `optional`: no enrolled agent has proved its key yet, so programs that cannot prove are let in.
 * - `required`: an enrolled agent has proved its key once; every other registration is refused.
 * - `lifted`: the owner lets programs in that cannot prove.
 */
export const AgentProof = literal(["optional", "required", "lifted"])
export type AgentProof = typeof AgentProof.Type

/** Off until it is switched on. */
const option = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

export const TunnelOptions = Schema.Struct({
  /** Visitors may speak only HTTP where an edge ends their TLS. A tunnel that requires a login is treated so in any case. */
  http_only: option,
  /**
   * Of kind tcp, without a port: visitors connect to the host name by TLS, which the edge ends; the agent gets what is inside. Chosen
   * when the tunnel is made.
   */
  tls: option
})
export type TunnelOptions = typeof TunnelOptions.Type

export const tunnelOptionNames: ReadonlyArray<keyof TunnelOptions> = Struct.keys(TunnelOptions.fields)

/** Those that the owner of a tunnel switches. */
const switchable = Struct.omit(TunnelOptions.fields, ["tls"])
export type TunnelOption = keyof typeof switchable
export const switchableOptionNames: ReadonlyArray<TunnelOption> = Struct.keys(switchable)

interface Changed extends Struct.Lambda {
  (field: unknown): Schema.optionalKey<Schema.Boolean>
  readonly "~lambda.out": Schema.optionalKey<Schema.Boolean>
}

/** Options to switch; those that are absent stay as they are. */
export const TunnelOptionsChange = Schema.Struct(switchable).mapFields(
  Struct.map(Struct.lambda<Changed>(() => Schema.optionalKey(Schema.Boolean)))
)
type TunnelOptionsChange = typeof TunnelOptionsChange.Type

export const allOff: TunnelOptions = Schema.decodeSync(TunnelOptions)({})

/**
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { allOff, isAnyOn } from "@catenet/domain/edges/TunnelOptions"
 *
 * strictEqual(isAnyOn(allOff), false)
 * strictEqual(isAnyOn({ ...allOff, http_only: true }), true)
 * ```
 */
export const isAnyOn = (options: TunnelOptions): boolean => tunnelOptionNames.some((name) => options[name])

/**
 * The options among the members of a larger struct.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { allOff, optionsOf } from "@catenet/domain/edges/TunnelOptions"
 *
 * const row = { ...allOff, name: "cam" }
 * deepStrictEqual(optionsOf(row), allOff)
 * ```
 */
export const optionsOf = (among: TunnelOptions): TunnelOptions => Struct.pick(among, tunnelOptionNames)

/**
 * The options that a larger change switches.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { changedOptions, switchOption } from "@catenet/domain/edges/TunnelOptions"
 *
 * const change = { name: "cam", ...switchOption("http_only", true) }
 * deepStrictEqual(changedOptions(change), { http_only: true })
 * ```
 */
export const changedOptions = (among: TunnelOptionsChange): TunnelOptionsChange =>
  Object.fromEntries(switchableOptionNames.flatMap((name) => (among[name] === undefined ? [] : [[name, among[name]]])))

/**
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { switchOption } from "@catenet/domain/edges/TunnelOptions"
 *
 * deepStrictEqual(switchOption("http_only", false), { http_only: false })
 * ```
 */
export const switchOption = (name: TunnelOption, isOn: boolean): TunnelOptionsChange => ({ [name]: isOn })
