/** `channel bind-topology`: proves an operator's key for a topology; `--put` also binds it. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Redacted, Schema } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as KeyValueOutput from "../terminal/Screen.ts"
import { Screen } from "../terminal/Screen.ts"

const width = 15

export const bindTopology = ({ put }: { readonly put: boolean }) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const { operatorKey, topology, ...values } = yield* EnvironmentFile.read(
      yield* configFile,
      ChannelOwnerVariables.bindTopology
    )
    const operator_pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(operatorKey)))
    const proof = Hex.encode(OperatorBinding.sign(native, operatorKey, { topologyId: topology }))
    if (put) {
      const path = `/me/topologies/${encodeURIComponent(topology)}/operator` as const
      const body = { operator_pubkey, proof }
      yield* AccountClient.ask(yield* ControlPlaneSelection.of(values), {
        method: "PUT",
        path,
        body,
        answer: Schema.Unknown
      })
      yield* Effect.logInfo(`the operator is bound to the topology ${topology}`)
    }
    KeyValueOutput.print(
      screen,
      [
        ["operator_pubkey", operator_pubkey],
        ["proof", proof]
      ],
      width
    )
  }).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))
