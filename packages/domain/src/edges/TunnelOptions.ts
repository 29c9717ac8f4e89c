/**
 * The options of a tunnel that its owner switches and its edges obey. One struct is stored, ordered, restored, kept in the
 * route table and offered by the API and the portal. A new option is a field here, its label and hint in each language, and
 * the code that obeys it.
 */
import { Effect, Schema, Struct } from "effect"

/** Off until it is switched on. */
const option = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

export const TunnelOptions = Schema.Struct({
  /** Visitors may speak only HTTP where an edge ends their TLS. A tunnel that requires a login is treated so in any case. */
  http_only: option
})
export type TunnelOptions = typeof TunnelOptions.Type

export type TunnelOption = keyof TunnelOptions
export const tunnelOptionNames: ReadonlyArray<TunnelOption> = Struct.keys(TunnelOptions.fields)

interface Changed extends Struct.Lambda {
  (field: unknown): Schema.optionalKey<Schema.Boolean>
  readonly "~lambda.out": Schema.optionalKey<Schema.Boolean>
}

/** Options to switch; those that are absent stay as they are. */
export const TunnelOptionsChange = TunnelOptions.mapFields(
  Struct.map(Struct.lambda<Changed>(() => Schema.optionalKey(Schema.Boolean)))
)
type TunnelOptionsChange = typeof TunnelOptionsChange.Type

export const allOff: TunnelOptions = Schema.decodeSync(TunnelOptions)({})

export const isAnyOn = (options: TunnelOptions): boolean => tunnelOptionNames.some((name) => options[name])

/** The options among the members of a larger struct, complete or of a change. */
export const optionsOf = (among: TunnelOptions): TunnelOptions => Struct.pick(among, tunnelOptionNames)
export const changedOptions = (among: TunnelOptionsChange): TunnelOptionsChange =>
  Object.fromEntries(tunnelOptionNames.flatMap((name) => (among[name] === undefined ? [] : [[name, among[name]]])))

export const switchOption = (name: TunnelOption, isOn: boolean): TunnelOptionsChange => ({ [name]: isOn })
