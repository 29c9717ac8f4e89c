/** Pages that answer a form that was taken, in German: whole as every page is, and without English words. */
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { german } from "../../src/portal/texts/German.ts"
import { settings } from "../identity/RealmServer.ts"
import { TestRealm } from "../identity/TestRealm.ts"
import { faults } from "./PageFaults.ts"
import { personAt } from "./PersonAtForms.ts"

const variables = {
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_CP_ALERTS_LOOPBACK: "1",
  CT_BRIDGE_HOLDER_KEY: Buffer.from(Redacted.value(seedOf("success bridge"))).toString("hex"),
  CT_BRIDGE_NOISE_KEY: "a2".repeat(32)
}
const server = Layer.unwrap(Effect.map(settings, (realm) => TestServer.layer({ ...realm, ...variables }))).pipe(
  Layer.provideMerge(Layer.merge(TestIssuer.layer, TestRealm.layer))
)
const kim = person("success-kim")

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the answer to a form that was taken", (it) => {
  it.effect("is a page in the reader's language alone, or leads to one", () =>
    Effect.gen(function* () {
      const made = yield* ask(kim, "/me/tunnels", { name: "erfolg" })
      const tunnel = String(made.body["id"])
      yield* ask(kim, `/me/tunnels/${tunnel}`, { require_login: true }, { method: "PATCH" })
      const channel = idOf("success")
      yield* ask(account("success-kim"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      yield* ask(account("success-kim"), `/me/channels/${channel}/allowlist`, { email: "success-kim@people.example" })
      const topology = String((yield* ask(kim, "/me/topologies", {})).body["id"])
      for (const agent of ["s1", "s2", "s3"])
        yield* ask(kim, `/me/topologies/${topology}/agents`, { agent: keyOf(agent) })
      yield* ask(kim, `/me/topologies/${topology}/mode`, { mode: "shortcut" }, { method: "PUT" })
      const { get, post } = yield* personAt(kim, "de")
      yield* get("/portal/account")
      const own = `/portal/tunnels/${tunnel}`
      const hall = `/portal/channels/${channel}`
      const drawn = `/portal/topologies/${topology}`
      const grant = { channel_id: channel, grant_hex: grantBy("op", channel, "success bridge") }
      const manifest = { manifest_location: "https://a.example/manifest.json", project_name: "p" }
      const rows: ReadonlyArray<readonly [action: string, form: Readonly<Record<string, string>>, status: number]> = [
        [`${own}/install`, { port: "80" }, 200],
        [`${own}/alert`, { webhook_url: "http://127.0.0.1:1/hook", threshold_minutes: "5" }, 200],
        [`${own}/alert/test`, {}, 200],
        [`${own}/share-links`, { ttl: "1h", label: "" }, 200],
        [`${own}/rotate-token`, {}, 303],
        [`${own}/badge/enable`, {}, 303],
        [`${own}/access`, { expiry_mode: "in", expires_in_hours: "2" }, 303],
        [`${own}/login-allowlist`, { email: "a@b.example" }, 303],
        [`${own}/grants`, { grantee: "somebody" }, 303],
        [`${own}/agent-bridge`, { mode: "permanent" }, 303],
        [`${own}/agent-bridge/grant`, grant, 303],
        [`${own}/agent-bridge/call`, { tool: "bridge/status", arguments: "" }, 200],
        [`${own}/agent-bridge/manifest/install`, manifest, 200],
        ["/portal/account/credits", { credits: "1234567" }, 200],
        ["/portal/account/service-accounts", { name: "ci" }, 200],
        ["/portal/channels", { operator_pubkey: keyOf("other op"), channel: "" }, 303],
        ["/portal/rooms", { operator_pubkey: keyOf("room op"), holders: `${keyOf("r1")} ${keyOf("r2")}` }, 303],
        [`${hall}/members`, materialOf(channel, "m"), 303],
        [`${hall}/claim-invites`, { ...materialOf(channel, "i"), label: "" }, 200],
        [`${hall}/claim-form`, materialOf(channel, "claimer"), 200],
        [`${hall}/grants`, { holder: materialOf(channel, "m").holder, grant: grantBy("op", channel, "m") }, 303],
        [`${drawn}/connect`, { a: keyOf("s1"), b: keyOf("s2") }, 303],
        [`${drawn}/suggest`, { shortcut_budget: "0", links: "" }, 200],
        [`${drawn}/share`, { email: "a@b.example" }, 303],
        [`${own}/delete`, {}, 303],
        ["/portal/account/delete", { confirm: "DELETE" }, 200]
      ]
      const found: Array<string> = []
      const look = (about: string, text: string) => {
        // The editor brings its own style and script.
        const ofScript = about.includes("/topologies/") ? ["something inline", "something unwritten"] : []
        const wrong = faults(text, german).filter((fault) => !ofScript.includes(fault))
        found.push(
          ...wrong.map((fault) => `${about}: ${fault}`),
          ...invalidities(text).map((each) => `${about}: ${each}`)
        )
      }
      for (const [action, form, status] of rows) {
        const answer = yield* post(action, form)
        if (answer.status !== status) found.push(`${action}: ${answer.status} ${answer.text.slice(0, 400)}`)
        if (answer.location === null) look(action, answer.text)
        else {
          const next = yield* get(answer.location.replace(/#.*$/u, ""))
          look(`${action} > ${answer.location}`, next.text)
        }
      }
      const rotated = /action="(\/portal\/account\/service-accounts\/[^"]+\/rotate)"/u.exec(
        (yield* get("/portal/account?tab=service-accounts")).text
      )
      if (rotated?.[1] !== undefined) look("rotated", (yield* post(rotated[1], {})).text)
      assert.deepStrictEqual(found, [])
    })
  )
})
