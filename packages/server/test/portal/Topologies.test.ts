import { server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import * as EditorScript from "../../src/portal/pages/topology/EditorScript.ts"
import { english } from "../../src/portal/texts/English.ts"

const kim = person("topologies-kim")
const lou = person("topologies-lou")

const send = (as: As, path: string, form?: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const headers = { accept: "text/html", ...(yield* headersOf(as)) }
    const sent = form === undefined ? undefined : new URLSearchParams(form).toString()
    const response = yield* TestServer.raw(
      path,
      sent === undefined
        ? { headers }
        : { method: "POST", headers: { ...headers, "content-type": "application/x-www-form-urlencoded" }, body: sent }
    )
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, location: response.headers.get("location"), text, headers: response.headers }
  })

const [a, b, c] = [keyOf("topology a"), keyOf("topology b"), keyOf("topology c")]

const create = (as: As) =>
  Effect.map(send(as, "/portal/topologies", {}), ({ location, status }) => {
    const id = /^\/me\/topologies\/([0-9a-f]{32})\/editor$/u.exec(location ?? "")?.[1] ?? ""
    assert.deepStrictEqual([status, id.length], [303, 32])
    return { id, editor: `/me/topologies/${id}/editor`, own: `/portal/topologies/${id}` }
  })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("topologies of the portal", (it) => {
  it.effect("are drawn and changed without a script, and say why a change was refused", () =>
    Effect.gen(function* () {
      const { editor, own } = yield* create(kim)
      const changes: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, number]> = [
        ["add", { agent: a }, 303],
        ["add", { agent: b, super: "1" }, 303],
        ["add", { agent: b }, 409],
        ["add", { agent: "x" }, 400],
        ["connect", { a, b: a }, 409],
        ["connect", { a, b }, 303],
        ["connect", { a, b }, 409],
        ["label", { agent: a, label: 'Attic "<b>' }, 303],
        ["label", { agent: a, label: "x".repeat(61) }, 400],
        ["note", { a, b, channel: "zz" }, 400],
        ["note", { a, b, channel: idOf("no channel of kim") }, 403],
        ["note", { a, b, channel: "" }, 303],
        ["name", { name: "x".repeat(61) }, 400],
        ["name", { name: " Ware<house " }, 303],
        ["suggest", { shortcut_budget: "0" }, 409],
        ["mode", { mode: "fastest" }, 400],
        ["mode", { mode: "shortcut" }, 303],
        ["suggest", { shortcut_budget: "17" }, 400],
        ["suggest", { shortcut_budget: "-1" }, 400],
        ["suggest", { shortcut_budget: "0", links: "one two" }, 400],
        ["add", { agent: c }, 303],
        ["remove", { a, b: c }, 404],
        ["bind", { operator_pubkey: keyOf("op"), proof: "0".repeat(128) }, 404],
        ["delete", {}, 400]
      ]
      for (const [part, form, status] of changes) {
        const answer = yield* send(kim, `${own}/${part}`, form)
        assert.strictEqual(answer.status, status, `${part} ${JSON.stringify(form)}`)
        if (status === 303) assert.strictEqual(answer.location, editor)
        else assert.match(answer.text, /role="alert"/u, part)
      }
      const page = yield* send(kim, editor)
      assert.strictEqual(page.status, 200)
      const listed = (yield* send(kim, "/portal/topologies")).text
      for (const text of [page.text, listed]) assert.include(text, "Ware&#60;house")
      assert.include(page.text, 'aria-label="Attic &#34;&#60;b&#62;, peer"')
      assert.match(
        page.text,
        new RegExp(`class="node super-peer" data-agent="${b}"[^>]*tabindex="0" role="button"`, "u")
      )
      assert.match(page.text, new RegExp(`<line class="link" data-a="(?:${a}|${b})"`, "u"))
      const policy = page.headers.get("content-security-policy") ?? ""
      assert.include(policy, `script-src 'sha256-${EditorScript.hash}'`)
      assert.notMatch(page.text, /<link rel="stylesheet"| src="|url\(/u)
      const suggested = yield* send(kim, `${own}/suggest`, { shortcut_budget: "0", links: `${a} ${c} 5` })
      assert.strictEqual(suggested.status, 200)
      assert.match(suggested.text, /<line class="suggested"/u)
      const links = /name="links" value="([^"]+)"/u.exec(suggested.text)?.[1] ?? ""
      assert.strictEqual((yield* send(kim, `${own}/apply`, { links })).status, 303)
      assert.strictEqual((yield* send(kim, `${own}/apply`, { links })).status, 303, "applied again")
      assert.lengthOf([...(yield* send(kim, editor)).text.matchAll(/<line class="link"/gu)], 2)
      assert.strictEqual((yield* send(kim, `${own}/remove`, { a, b: c === a ? b : c })).status, 303)
      assert.strictEqual((yield* send(kim, `${own}/delete`, { confirm: "1" })).location, "/portal/topologies")
      assert.strictEqual((yield* send(kim, editor)).status, 404)
    })
  )

  it.effect("show to whom they are shared no panel of the owner, and to others nothing", () =>
    Effect.gen(function* () {
      const { editor, id, own } = yield* create(kim)
      const none = `/me/topologies/${"ab".repeat(16)}/editor`
      const [foreign, unknown] = [yield* send(lou, editor), yield* send(lou, none)]
      assert.deepStrictEqual([foreign.status, foreign.text], [404, unknown.text])
      assert.strictEqual((yield* send("anonymous", editor)).status, 401)
      yield* send(kim, `${own}/share`, { email: "topologies-lou@people.example" })
      const shared = yield* send(lou, editor)
      assert.strictEqual(shared.status, 200)
      const ofOwner = [
        english.operatorTitle,
        english.topologyDelete,
        `${own}/unshare`,
        `${own}/mode"`,
        "topologies-lou@"
      ]
      const owners = (yield* send(kim, editor)).text
      for (const text of ofOwner.slice(0, 4)) {
        assert.include(owners, text)
        assert.notInclude(shared.text, text)
      }
      assert.include((yield* send(lou, "/portal/topologies")).text, editor)
      assert.strictEqual((yield* send(lou, `${own}/mode`, { mode: "shortcut" })).status, 404)
      assert.strictEqual((yield* send(lou, `${own}/delete`, { confirm: "1" })).status, 404)
      const program = yield* send(account("topologies-kim"), editor)
      assert.strictEqual(program.status, 200)
      for (const text of [id, ...ofOwner, `action="${own}/add"`]) assert.include(program.text, text)
      // A token of another account shows nothing, not even to whom it is shared with: a token proves no address.
      assert.strictEqual((yield* send(account("topologies-lou"), editor)).status, 404)
      const without = yield* Layer.build(TestServer.replica())
      const headers = yield* headersOf(kim)
      const absent = yield* Effect.provideService(
        TestServer.raw(editor, { headers }),
        HttpServer.HttpServer,
        Context.get(without, HttpServer.HttpServer)
      )
      assert.strictEqual(absent.status, 404, "while no key is known")
    }).pipe(Effect.scoped)
  )

  it.effect("take own channels of two members for links", () =>
    Effect.gen(function* () {
      const { editor, own } = yield* create(kim)
      const channel = idOf("imported")
      yield* ask(account("topologies-kim"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      for (const holder of ["import a", "import b"])
        yield* ask(account("topologies-kim"), `/me/channels/${channel}/members`, materialOf(channel, holder))
      for (let times = 0; times < 2; times++) assert.strictEqual((yield* send(kim, `${own}/import`, {})).status, 303)
      const { text } = yield* send(kim, editor)
      assert.lengthOf([...text.matchAll(/<line class="link"/gu)], 1)
      assert.include(text, channel)
    })
  )

  it.effect("have a public page that everybody sees alike and that says nothing of the owner", () =>
    Effect.gen(function* () {
      const { editor, own } = yield* create(kim)
      yield* send(kim, `${own}/add`, { agent: keyOf("topology public") })
      yield* send(kim, `${own}/label`, { agent: keyOf("topology public"), label: "Secret attic" })
      yield* send(kim, `${own}/name`, { name: "Secret house" })
      const net = /href="(\/net\/[^"]+)"/u.exec((yield* send(kim, editor)).text)?.[1] ?? ""
      const [mine, others] = [yield* send(kim, net), yield* send("anonymous", net)]
      assert.deepStrictEqual([others.status, others.text], [200, mine.text])
      assert.include(others.text, keyOf("topology public"))
      assert.include(others.text, '<meta name="robots" content="noindex">')
      for (const text of ["topologies-kim", "Secret attic", "Secret house"]) assert.notInclude(others.text, text)
      assert.strictEqual((yield* send("anonymous", `/net/${"cd".repeat(16)}`)).status, 404)
    })
  )
})
