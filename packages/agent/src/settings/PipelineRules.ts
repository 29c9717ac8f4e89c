/** Rules across the variables of `pipeline match` and `pipeline run`. */
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import { permits } from "@catenet/crypto/Permission"
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { Redacted } from "effect"
import * as MemberRules from "./MemberRules.ts"
import type * as PipelineVariables from "./PipelineVariables.ts"

export const rules =
  (nowMillis: number) =>
  (values: VariableReader.PartialValues<typeof PipelineVariables.variables>): ReadonlyArray<Problems.Problem> => {
    const { holderKey, pipelineGrants: given = [] } = values
    const own = holderKey === undefined ? undefined : native.ed25519.publicKey(Redacted.value(holderKey))
    const problems: Array<Problems.Problem> = []
    for (const [at, each] of given.entries()) {
      const { channel, direction, expiresAt, holder } = Redacted.value(each)
      const wrong = (what: string, remedy: string) =>
        problems.push(Problems.problem("CT_PIPELINE_GRANTS", `has as number ${at + 1} ${what}`, remedy))
      if (own !== undefined && !Bytes.equal(holder, own))
        wrong(`a grant for the holder ${MemberRules.short(holder)}`, "take those of this holder")
      if (!permits(direction, "initiate"))
        wrong(`a grant that permits ${direction}`, "this side begins the session; use a grant with initiate")
      if (expiresAt * 1000n <= BigInt(nowMillis))
        wrong("a grant that has expired", "ask the pipeline's operator for a new one")
      if (given.slice(0, at).some((other) => Bytes.equal(Redacted.value(other).channel, channel)))
        wrong("a second grant for one channel", "leave one of them out")
    }
    return Problems.all(
      problems,
      MemberRules.edgeRules(values).filter(({ variable }) => variable !== "CT_CHANNEL_HOLDER_KEY"),
      MemberRules.unusable("CT_CHANNEL_FRONT_DOOR_CERT", values.frontDoorCertificate)
    )
  }
