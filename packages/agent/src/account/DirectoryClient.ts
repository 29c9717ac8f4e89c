/**
 * Registers a card in the control plane's directory: with the operator's token, or as a user with a proof signed by the holder
 * key. If neither is possible, it names what is missing.
 */
import type * as AgentCard from "@catenet/crypto/AgentCard"
import * as DirectoryProof from "@catenet/crypto/DirectoryProof"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { Account } from "@catenet/domain/billing/Credits"
import { clause } from "@catenet/domain/values/Sentence"
import type { Values } from "@catenet/platform/VariableReader"
import { Effect, Redacted, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Refused, Unreachable } from "../Failure.ts"
import * as Credential from "../login/Credential.ts"
import { describe } from "../onboard/HttpErrors.ts"
import type * as CardVariables from "../settings/CardVariables.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { Screen } from "../terminal/Screen.ts"
import * as AccountClient from "./AccountClient.ts"
import * as ControlPlaneSelection from "./ControlPlaneSelection.ts"

type Registering = Values<typeof CardVariables.agentCard>

const bound = "10 seconds"

const asOperator = Effect.fnUntraced(function* (
  controlPlane: string,
  adminToken: Redacted.Redacted<Uint8Array>,
  body: object
) {
  const client = yield* HttpClient.HttpClient
  const away = (why: string) =>
    new Unreachable({
      detail: `The card is written, and the control plane at ${controlPlane} does not answer: ${clause(why)}.`
    })
  const request = HttpClientRequest.post(`${controlPlane}/registry/agents`).pipe(
    HttpClientRequest.setHeader("x-ct-admin-token", Hex.encode(Redacted.value(adminToken))),
    HttpClientRequest.bodyJsonUnsafe(body)
  )
  const { status } = yield* client.execute(request).pipe(
    Effect.mapError((error) => away(describe(error))),
    Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.fail(away(`nothing within ${bound}`)) })
  )
  if (status >= 200 && status < 300) return
  const detail = `The card is written, and was not registered: the control plane answered ${status}.`
  return yield* status >= 500 ? new Unreachable({ detail }) : new Refused({ detail })
})

export const register = Effect.fn("DirectoryClient.register")(function* (
  given: Registering,
  card: AgentCard.AgentCard
) {
  const screen = yield* Screen
  const { adminToken, cardUrl, holderKey } = given
  const controlPlane = yield* ControlPlaneSelection.controlPlaneOf(given)
  if (cardUrl === undefined || controlPlane === undefined)
    return screen.log(
      "The card is not registered. To be found in the directory, set CT_AGENT_CARD_URL to its https address and CT_AGENT_CP_URL to the control plane."
    )
  const listed = {
    holder_pubkey: Hex.encode(card.holder),
    card_url: cardUrl,
    role_tags: card.roleTags,
    skill_ids: card.skills.map(({ id }) => id)
  }
  if (adminToken !== undefined) yield* asOperator(controlPlane, adminToken, listed)
  else {
    const source = LoginVariables.sourceOf(given)
    const state = yield* Effect.exit(Credential.resolve(source))
    if (state._tag === "Failure")
      return screen.log(
        "The card is not registered. Run ct-agent login, or set CT_OIDC_TOKEN, to register it as you; an operator sets CT_CP_EDGE_ADMIN_TOKEN."
      )
    const account = { controlPlane, source }
    const { subject } = yield* AccountClient.ask(account, { method: "GET", path: "/me/account", answer: Account })
    const { expiresAt, issuedAt, roleTags } = card
    const proof = DirectoryProof.sign(native, holderKey, {
      subject: subject ?? "",
      cardUrl,
      roleTags,
      skillIds: listed.skill_ids,
      issuedAt,
      expiresAt
    })
    const body = {
      ...listed,
      issued_at: Number(issuedAt),
      expires_at: Number(expiresAt),
      proof: Hex.encode(proof)
    }
    yield* AccountClient.ask(account, { method: "POST", path: "/me/agents-directory", body, answer: Schema.Unknown })
  }
  screen.log(`The card is registered in the directory of ${controlPlane}.`)
})
