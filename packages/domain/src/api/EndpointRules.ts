/** Rules about several members of a request, or about what a text holds, which no schema says. The fuzzer finds one that is missing. */
import { Option, Record as Records } from "effect"

const signedRecord = (name: string) =>
  `\`${name}\` is a signed record; the schema specifies its length, but not its content.`

const rules: Readonly<Record<string, ReadonlyArray<string>>> = {
  "tunnelControls.setAccess": ["Each slot in `slots` must end after it starts."],
  "invitations.redeem": [signedRecord("invitation")],
  "enrollment.redeemBootstrap": ["`pubkey` and `proof` must both be present or both be absent."]
}

/**
 * The rules of an operation.
 *
 * @example
 * ```ts
 * import { ruleOf } from "@catenet/domain/api/EndpointRules"
 *
 * if (ruleOf("enrollment.redeemBootstrap").length === 0) throw new Error("two members belong together")
 * ```
 */
export const ruleOf = (operationId: unknown): ReadonlyArray<string> =>
  Option.getOrElse(Records.get(rules, String(operationId)), () => [])
