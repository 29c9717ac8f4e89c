/** What the variables of `channel room` must be together. Pure. */
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { Redacted } from "effect"
import * as MemberRules from "./MemberRules.ts"
import type * as Variables from "./Variables.ts"

type Partial = VariableReader.PartialValues<typeof Variables.room>

const pairRules = ({ grants, holderKey }: Partial): ReadonlyArray<Problem> => {
  if (grants === undefined) return []
  const wrong = (problem: string, remedy: string) => [{ variable: "CT_CHANNEL_GRANTS", problem, remedy }]
  if (grants.problem !== undefined)
    return wrong(grants.problem, "each line is the peer's holder key, the grant, and if wanted a name for the peer")
  if (holderKey === undefined) return []
  const own = native.ed25519.publicKey(Redacted.value(holderKey))
  for (const { grant, name, peer } of grants.pairs) {
    const { holder } = Redacted.value(grant)
    if (!Bytes.equal(holder, own))
      return wrong(
        `has a grant for the holder ${MemberRules.short(holder)} in the pair with ${name}, and CT_CHANNEL_HOLDER_KEY is the key of ${MemberRules.short(own)}`,
        "take the grants that are for this holder"
      )
    if (Bytes.equal(peer, own))
      return wrong(`names this member itself as the peer ${name}`, "begin each line with the key of the other holder")
  }
  return []
}

export const rules = (values: Partial): ReadonlyArray<Problem> => [
  ...pairRules(values),
  ...MemberRules.edgeRules(values),
  ...MemberRules.unusable("CT_CHANNEL_FRONT_DOOR_CERT", values.frontDoorCertificate),
  ...MemberRules.marketRules(values)
]
