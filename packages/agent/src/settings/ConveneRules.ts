/** What the variables of `channel convene` must be together. Pure. */
import type { Problem } from "@catenet/config/ConfigurationInvalid"
import type * as Reader from "@catenet/config/Reader"
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import { permits } from "@catenet/crypto/Permission"
import { Redacted } from "effect"
import * as ChannelRules from "./ChannelRules.ts"
import type * as ConveneVariables from "./ConveneVariables.ts"

export const rules =
  (nowMillis: number) =>
  (values: Reader.PartialValues<typeof ConveneVariables.variables>): ReadonlyArray<Problem> => {
    const { holderKey, pipelineGrants: given = [] } = values
    const own = holderKey === undefined ? undefined : native.ed25519.publicKey(Redacted.value(holderKey))
    const problems: Array<Problem> = []
    for (const [at, each] of given.entries()) {
      const { channel, direction, expiresAt, holder } = Redacted.value(each)
      const wrong = (what: string, remedy: string) =>
        problems.push({ variable: "CT_PIPELINE_GRANTS", problem: `has as number ${at + 1} ${what}`, remedy })
      if (own !== undefined && !Bytes.equal(holder, own))
        wrong(`a grant for the holder ${ChannelRules.short(holder)}`, "take those of this holder")
      if (!permits(direction, "initiate"))
        wrong(`a grant that permits ${direction}`, "who convenes begins: take one with initiate")
      if (expiresAt * 1000n <= BigInt(nowMillis))
        wrong("a grant that has expired", "ask the pipeline's operator for a new one")
      if (given.slice(0, at).some((other) => Bytes.equal(Redacted.value(other).channel, channel)))
        wrong("a second grant for one channel", "leave one of them out")
    }
    return [
      ...problems,
      ...ChannelRules.edgeRules(values).filter(({ variable }) => variable !== "CT_CHANNEL_HOLDER_KEY"),
      ...ChannelRules.unusable("CT_CHANNEL_FRONT_DOOR_CERT", values.frontDoorCertificate)
    ]
  }
