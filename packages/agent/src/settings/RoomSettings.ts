/** The settings of a room member: those of a member of each of its channels. */
import * as Bytes from "@catenet/crypto/Bytes"
import { native } from "@catenet/crypto/native"
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import type * as VariableReader from "@catenet/platform/VariableReader"
import { Effect, Redacted } from "effect"
import * as EnvironmentFile from "./EnvironmentFile.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as MemberRules from "./MemberRules.ts"
import * as MemberSettings from "./MemberSettings.ts"
import type { PairGrant } from "./RoomVariables.ts"
import { standardStateDir } from "./TunnelVariables.ts"
import type * as Variables from "./Variables.ts"
import { room } from "./Variables.ts"

/** Rules across the variables of `channel room`. */
type Partial = VariableReader.PartialValues<typeof Variables.room>

const pairRules = ({ grants, holderKey }: Partial): ReadonlyArray<Problems.Problem> => {
  if (grants === undefined) return []
  const wrong = (problem: string, remedy: string) => [Problems.problem("CT_CHANNEL_GRANTS", problem, remedy)]
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

const roomRules = (values: Partial): ReadonlyArray<Problems.Problem> =>
  Problems.all(
    pairRules(values),
    MemberRules.edgeRules(values),
    MemberRules.unusable("CT_CHANNEL_FRONT_DOOR_CERT", values.frontDoorCertificate),
    MemberRules.marketRules(values)
  )

/** One pair of the room. */
export interface PairSettings extends Pick<PairGrant, "name" | "peer"> {
  readonly settings: MemberSettings.MemberSettings
}

const on = { isOn: true, text: "1" }

/** Sessions of a room are relayed, and may move to a direct link while they run. If both may begin, the edge decides. */
const inRoom = { relayOnly: on, serve: on, role: "accept" } as const

/** The settings of every pair, from the environment and the file that `named` names. There is at least one. */
export const read = Effect.fn("RoomSettings.read")(function* (named: string | undefined) {
  const { grants, ...values } = yield* EnvironmentFile.read(named, room, roomRules)
  yield* EnvironmentFile.warnUnread(named, room)
  return yield* Effect.forEach(grants.pairs, ({ grant, name, peer }) =>
    Effect.map(
      MemberSettings.settingsOf({
        ...values,
        ...inRoom,
        loginFile: LoginVariables.sourceOf(values).stored,
        stateDir: values.stateDir ?? standardStateDir,
        grant
      }),
      (settings): PairSettings => ({ name, peer, settings })
    )
  )
})
