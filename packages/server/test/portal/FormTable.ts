/**
 * Every form of the portal and the gate with its fields: what each takes at its limits, and what it refuses below and
 * beyond them. A route without a row, or a field without a value here, fails `FormLimits.test.ts`.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { grantBy, keyOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import type * as Addresses from "../../src/portal/Addresses.ts"
import { button, emails, hex, hex64, keys, longestEmail, names, numbers } from "./FormValues.ts"
import { tunnelForms } from "./TunnelFormTable.ts"

/** What the account of the table has. */
export interface Place {
  readonly tunnel: string
  readonly channel: string
  readonly topology: string
  readonly host: string
}

/** One way to fill in a form. */
export interface Way {
  /** What the other fields hold; accepted with each value of `accepts`. */
  readonly given: Readonly<Record<string, string>>
  readonly refuses: Readonly<Record<string, ReadonlyArray<string>>>
  readonly accepts?: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface FormRow {
  readonly ways: ReadonlyArray<Way>
  /** Fields in which everything has a meaning: switches, and what the page itself has put in. */
  readonly free?: ReadonlyArray<string>
}

type OtherPath = "/portal/logout" | "/portal/language" | "/portal/unsubscribe" | "/gate/share" | "/gate/request-access"
export type Table = Readonly<Record<Addresses.FormPath | Addresses.OperatorFormPath | OtherPath, FormRow>>

const proofOf = (topology: string) => Hex.encode(OperatorBinding.sign(native, seedOf("op"), { topologyId: topology }))

export const tableOf = (place: Place): Table => {
  const { channel, host, topology } = place
  const material = materialOf(channel, "limit member")
  const deposit = { holder: keyOf("limit a"), grant: grantBy("op", channel, "limit a") }
  const materials = { holder: keys, noise_pubkey: keys, noise_attestation: hex(128) }
  const ends = { a: keyOf("limit a"), b: keyOf("limit b") }
  return {
    ...tunnelForms(place),
    "/portal/account/credits": {
      ways: [
        {
          given: { credits: "1" },
          refuses: { credits: ["", "x", "0", "-1", "1.5", "9".repeat(17), "9".repeat(400)] },
          accepts: { credits: ["2"] }
        }
      ]
    },
    "/portal/account/delete": {
      ways: [{ given: {}, refuses: { confirm: ["", "delete", "DELETE!", " DELETE"] } }]
    },
    "/portal/account/notice-mail": { ways: [], free: ["enabled"] },
    "/portal/account/applications/end": { ways: [], free: ["application"] },
    "/portal/account/sessions/end-others": button,
    "/portal/account/sessions/:id/end": button,
    "/portal/account/service-accounts": {
      ways: [{ given: { name: "ci" }, refuses: { name: names(200) } }]
    },
    "/portal/account/service-accounts/:client_id/rotate": button,
    "/portal/account/service-accounts/:client_id/delete": button,
    "/portal/channels": {
      ways: [
        {
          given: { operator_pubkey: keyOf("limit op"), channel: "", label: "" },
          refuses: { operator_pubkey: keys, channel: hex64.slice(1), label: names(60).slice(1) },
          accepts: { channel: ["ef".repeat(32)], label: ["x".repeat(60)] }
        }
      ]
    },
    "/portal/rooms": {
      ways: [
        {
          given: { operator_pubkey: keyOf("room op"), holders: `${keyOf("r1")} ${keyOf("r2")}` },
          refuses: {
            operator_pubkey: keys,
            holders: [
              "",
              keyOf("r1"),
              `${keyOf("r1")} ${keyOf("r1")}`,
              `${keyOf("r1")} xyz`,
              Array.from({ length: 13 }, (_, n) => keyOf(`r ${n}`)).join("\n")
            ]
          },
          accepts: { holders: [Array.from({ length: 12 }, (_, n) => keyOf(`r ${n}`)).join(",\r\n")] }
        }
      ]
    },
    "/portal/channels/:channel/label": {
      ways: [{ given: { label: "" }, refuses: { label: names(60).slice(1) }, accepts: { label: ["x".repeat(60)] } }]
    },
    "/portal/channels/:channel/rekey": {
      ways: [
        { given: { operator_pubkey: keyOf("op"), confirm_rekey: "1" }, refuses: { operator_pubkey: keys } },
        { given: { operator_pubkey: keyOf("op 2") }, refuses: { confirm_rekey: [] } }
      ]
    },
    "/portal/channels/:channel/deregister": { ways: [{ given: {}, refuses: { confirm: [] } }] },
    "/portal/channels/:channel/members": { ways: [{ given: material, refuses: materials }] },
    "/portal/channels/:channel/members/:holder/remove": button,
    "/portal/channels/:channel/allowlist": {
      ways: [{ given: { email: "a@b.example" }, refuses: { email: emails }, accepts: { email: [longestEmail] } }]
    },
    "/portal/channels/:channel/allowlist/:email/remove": button,
    "/portal/channels/:channel/grants": {
      ways: [{ given: deposit, refuses: { holder: hex64, grant: hex(278) } }]
    },
    "/portal/channels/:channel/claim-invites": {
      ways: [
        {
          given: { ...materialOf(channel, "limit invited"), label: "" },
          refuses: { ...materials, label: [" ", "x".repeat(65), "a\u0007b"] },
          accepts: { label: ["x", "x".repeat(64)] }
        }
      ]
    },
    // What its field holds is made by the script of the page.
    "/portal/channels/:channel/join-links": { ways: [], free: ["secret"] },
    "/portal/topologies": {
      ways: [{ given: { name: "" }, refuses: { name: names(60).slice(1) }, accepts: { name: ["x".repeat(60)] } }]
    },
    "/portal/topologies/:id/name": {
      ways: [{ given: { name: "" }, refuses: { name: names(60).slice(1) }, accepts: { name: ["x".repeat(60)] } }]
    },
    "/portal/topologies/:id/connect": {
      ways: [{ given: { a: keyOf("limit a"), b: keyOf("limit c") }, refuses: { a: keys, b: keys } }]
    },
    "/portal/topologies/:id/remove": { ways: [], free: ["a", "b"] },
    "/portal/topologies/:id/note": {
      ways: [{ given: { ...ends, channel: "" }, refuses: { a: hex64, b: hex64, channel: hex64.slice(1) } }]
    },
    "/portal/topologies/:id/import": button,
    "/portal/topologies/:id/add": {
      free: ["super"],
      ways: [{ given: { agent: keyOf("limit new") }, refuses: { agent: keys } }]
    },
    "/portal/topologies/:id/unassign": { ways: [], free: ["agent"] },
    "/portal/topologies/:id/label": {
      free: ["agent"],
      ways: [
        {
          given: { agent: ends.a, label: "a" },
          refuses: { label: names(60) },
          accepts: { label: ["x".repeat(60)] }
        }
      ]
    },
    "/portal/topologies/:id/mode": {
      ways: [{ given: { mode: "baseline" }, refuses: { mode: ["", "mesh"] }, accepts: { mode: ["shortcut"] } }]
    },
    "/portal/topologies/:id/suggest": {
      ways: [
        {
          given: { shortcut_budget: "0", links: "" },
          refuses: {
            shortcut_budget: numbers(0, 16),
            links: [
              "x",
              `${ends.a}`,
              `${ends.a} ${ends.b} -1`,
              `${ends.a} ${ends.b} ${"9".repeat(21)}`,
              `${ends.a} ${ends.b} 18446744073709551616`
            ]
          },
          accepts: { shortcut_budget: ["16"], links: [`${ends.a} ${ends.b} 18446744073709551615`] }
        }
      ]
    },
    "/portal/topologies/:id/apply": { ways: [], free: ["links"] },
    "/portal/topologies/:id/share": {
      ways: [{ given: { email: "a@b.example" }, refuses: { email: emails }, accepts: { email: [longestEmail] } }]
    },
    "/portal/topologies/:id/unshare": { ways: [], free: ["email"] },
    "/portal/topologies/:id/bind": {
      ways: [
        {
          given: { operator_pubkey: keyOf("op"), proof: proofOf(topology) },
          refuses: { operator_pubkey: keys, proof: hex(128) }
        }
      ]
    },
    "/portal/topologies/:id/unbind": button,
    "/portal/topologies/:id/delete": { ways: [{ given: {}, refuses: { confirm: [] } }] },
    "/portal/claim/confirm": { ways: [], free: ["invite"] },
    "/portal/channels/:channel/claim-form": {
      ways: [
        {
          given: materialOf(channel, "limit claimer"),
          refuses: { ...materials, account_proof: ["zz", "ab".repeat(63)] }
        }
      ]
    },
    "/operators/orders/:id/resend": button,
    "/operators/limits": {
      ways: [
        {
          given: { subject: "limit-kim", what: "tunnels", max: "90" },
          refuses: { subject: ["", "x".repeat(256)], what: ["", "links"], max: numbers(0, 1_000_000).slice(1) },
          accepts: { max: ["", "0", "1000000"], what: ["channels", "ports", "hosts"] }
        }
      ]
    },
    "/portal/logout": button,
    "/portal/unsubscribe": button,
    "/portal/language": { ways: [], free: ["back", "language"] },
    "/gate/share": { ways: [], free: ["host", "token", "return"] },
    "/gate/request-access": {
      // What is longer than the note may be is cut off; the field takes no more.
      free: ["host", "note"],
      ways: [
        {
          given: { host, email: "a@b.example", note: "" },
          refuses: { email: emails },
          accepts: { email: [longestEmail], note: ["ü".repeat(500)] }
        }
      ]
    }
  }
}
