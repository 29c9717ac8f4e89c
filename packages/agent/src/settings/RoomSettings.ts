/** The settings of a member of a room: those of a member of each of its channels. */
import { Effect } from "effect"
import * as EnvironmentFile from "./EnvironmentFile.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as MemberSettings from "./MemberSettings.ts"
import * as RoomRules from "./RoomRules.ts"
import type { PairGrant } from "./RoomVariables.ts"
import { standardStateDir } from "./TunnelVariables.ts"
import { room } from "./Variables.ts"

/** One pair of the room. */
export interface PairSettings extends Pick<PairGrant, "name" | "peer"> {
  readonly settings: MemberSettings.MemberSettings
}

const on = { isOn: true, text: "1" }

/** Sessions of a room are relayed, and may move to a direct link while they run. */
const inRoom = {
  address: undefined,
  advertise: undefined,
  channel: undefined,
  circuitRelay: undefined,
  concurrency: 1,
  listen: undefined,
  peerCertificate: undefined,
  peerNoiseKey: undefined,
  relayGate: undefined,
  relayGateCertificate: undefined,
  relayOnly: on,
  serve: on,
  streamCommand: undefined,
  streamService: undefined
} as const

/** The settings of every pair, from the environment and the file that `named` names. There is at least one. */
export const read = Effect.fn("RoomSettings.read")(function* (named: string | undefined) {
  const { grants, ...values } = yield* EnvironmentFile.read(named, room, RoomRules.rules)
  yield* EnvironmentFile.warnUnread(named, room)
  return yield* Effect.forEach(grants.pairs, ({ grant, name, peer }) =>
    Effect.map(
      // Where both may begin, the edge says who does.
      MemberSettings.settingsOf({
        ...values,
        ...inRoom,
        loginFile: LoginVariables.sourceOf(values).stored,
        stateDir: values.stateDir ?? standardStateDir,
        grant,
        role: "accept"
      }),
      (settings): PairSettings => ({ name, peer, settings })
    )
  )
})
