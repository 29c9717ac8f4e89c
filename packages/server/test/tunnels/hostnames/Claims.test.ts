/**
 * Who may have which host name, and what a proof by DNS changes.
 * One file, since all cases ask one server whose zone and name server are started once.
 */
import { until } from "@catenet/testing/Eventually"
import { NameServer } from "@catenet/testing/server/dns/NameServer"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PublicDns } from "./PublicDns.ts"
import { ask, claimed, create, offer, rename, routed, server, sql, tokenOf, verify } from "./ZoneServer.ts"

const zone = "tunnels.zone.example"
const mayIssue = (token: string, hostname: string) =>
  Effect.map(ask("anonymous", `/agent/acme-admission/${token}/${hostname}`), ({ body }) => body)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a host name that an account asks for", (it) => {
  it.effect("cannot be the zone, a name above it, a name of the platform or a public suffix", () =>
    Effect.gen(function* () {
      for (const [hostname, reason] of [
        [zone, "zone"],
        ["zone.example", "zone"],
        ["example", "zone"],
        [`portal.${zone}`, "platform"],
        [`MAIL.${zone}.`, "platform"],
        [`${"0f".repeat(16)}.${zone}`, "platform"],
        ["127.0.0.1", "platform"],
        ["com", "public-suffix"],
        ["co.uk", "public-suffix"],
        ["github.io", "public-suffix"],
        ["localhost", "public-suffix"]
      ] as const) {
        const expected = { status: 409, code: "HostnameReserved", reason }
        assert.deepInclude((yield* create("eve", hostname)).body, expected, hostname)
        const provisioned = { subject: "eve", name: "n", hostname }
        const { body, status } = yield* ask("operator", "/admin/provision-tunnel", provisioned)
        if (hostname === "localhost") assert.strictEqual(status, 200, "a network's own name, by an operator")
        else assert.deepInclude(body, expected, hostname)
        const order = `/registry/authorize-host/${"ab".repeat(32)}/${hostname}`
        const ordered = yield* ask("operator", order, undefined, "POST")
        if (hostname !== "localhost") assert.deepInclude(ordered.body, expected, hostname)
      }
      assert.isEmpty((yield* ask("eve", "/me/tunnels")).body.filter((made: any) => made.hostname !== "localhost"))
    })
  )

  it.effect("is no address, by an operator neither", () =>
    Effect.gen(function* () {
      for (const hostname of ["192.0.2.1", "10.1", "192.0.2.0x1", "1234"]) {
        const expected = { status: 409, code: "HostnameReserved", reason: "address" }
        assert.deepInclude((yield* create("ned", hostname)).body, expected, hostname)
        const provisioned = yield* ask("operator", "/admin/provision-tunnel", { subject: "ned", name: "n", hostname })
        assert.deepInclude(provisioned.body, expected, hostname)
      }
      assert.isEmpty((yield* ask("ned", "/me/tunnels")).body)
      assert.strictEqual((yield* create("ned", "1.sites.example")).status, 200)
    })
  )

  it.effect("starts with no label reserved for services in the zone, unless an operator assigns it", () =>
    Effect.gen(function* () {
      for (const label of ["www", "LOGIN", "autodiscover", "wpad", "mta-sts", "ns1", "abuse", "security"]) {
        const { body } = yield* create("eve", `${label}.${zone}`)
        assert.deepInclude(body, { status: 409, code: "HostnameReserved", reason: "service-label" }, label)
      }
      for (const hostname of ["wwww", "ns3", "security-camera", "mta"].map((label) => `${label}.${zone}`))
        assert.deepInclude((yield* create("sam", hostname)).body, { hostname }, hostname)
      const elsewhere = yield* create("sam", "www.sam.example")
      assert.deepInclude(elsewhere.body.hostname_proof, { hostname: "www.sam.example" }, "outside the zone")
      const hostname = `status.${zone}`
      const provisioned = yield* ask("operator", "/admin/provision-tunnel", { subject: "sam", name: "n", hostname })
      assert.strictEqual(provisioned.status, 200, "by an operator")
    })
  )

  it.effect("remains with a tunnel that had it before its label was reserved", () =>
    Effect.gen(function* () {
      const hostname = `admin.${zone}`
      const made = yield* create("old", `former.${zone}`)
      const token = yield* tokenOf("old", made.body.id)
      yield* sql((sql) => sql`update tunnels set hostname = ${hostname} where id = ${made.body.id}`)
      yield* sql((sql) => sql`update hosts set hostname = ${hostname} where hostname = ${`former.${zone}`}`)
      yield* offer(hostname)
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: true })
      assert.deepInclude((yield* ask("old", `/me/tunnels/${made.body.id}`)).body, { hostname, status: "gelb" })
      const ordered = yield* ask("operator", `/registry/authorize-host/${token}/${hostname}`, undefined, "POST")
      assert.strictEqual(ordered.status, 200)
    })
  )

  it.effect("one label below the zone is given at once", () =>
    Effect.gen(function* () {
      const { body } = yield* create("ada", `cam.${zone}`)
      assert.deepInclude(body, { hostname: `cam.${zone}`, hostname_proof: null, status: "gelb" })
      assert.deepInclude((yield* verify("ada", body.id)).body, { status: 409, code: "NoHostnameToVerify" })
      assert.deepInclude((yield* create("eve", `cam.${zone}`)).body, { status: 409, code: "HostnameTaken" })
    })
  )

  it.effect("outside the zone are as many as its operator allows the account, however many are asked for at once", () =>
    Effect.gen(function* () {
      const allow = (max_hosts: number | null) =>
        Effect.map(ask("operator", "/admin/accounts/max", { max_hosts }, "PATCH"), ({ body }) => body.max_hosts)
      const limited = { status: 403, code: "LimitReached", limit: 2 }
      assert.strictEqual(yield* allow(2), 2)
      const made = yield* Effect.all(
        [1, 2, 3, 4].map((n) => create("max", `www.max-${n}.example`)),
        { concurrency: "unbounded" }
      )
      const refused = made.filter(({ status }) => status !== 200)
      assert.strictEqual(refused.length, 2)
      for (const { body } of refused) assert.deepInclude(body, limited)
      assert.strictEqual((yield* ask("max", "/me/tunnels")).body.length, 2, "a refusal leaves no tunnel")
      assert.strictEqual((yield* create("max", `max.${zone}`)).status, 200, "the platform's names are no own ones")
      const first = made.find(({ status }) => status === 200)
      yield* ask("max", `/me/tunnels/${first?.body.id}`, undefined, "DELETE")
      assert.strictEqual((yield* create("max", "www.max-5.example")).status, 200)
      assert.deepInclude((yield* create("max", "www.max-6.example")).body, limited)
      const { body: given } = yield* ask("max", "/me/tunnels", { name: "more" })
      assert.deepInclude((yield* rename("max", given.id, "www.max-6.example")).body, limited)
      assert.strictEqual(yield* allow(null), 1000)
      assert.strictEqual((yield* create("max", "www.max-6.example")).status, 200)
    })
  )

  it.effect("outside the zone is pending and not routed until it is proved", () =>
    Effect.gen(function* () {
      const { orders } = yield* RecordingEdge
      for (const hostname of ["www.google.com", `two.labels.${zone}`]) {
        const { body, status } = yield* create("eve", hostname)
        assert.strictEqual(status, 200)
        assert.deepInclude(body, { hostname: null, status: "rot" })
        const [txt, cname] = body.hostname_proof.records
        assert.deepInclude(body.hostname_proof, { hostname, state: "pending", checked_at: null })
        assert.deepInclude(txt, { type: "TXT", name: `_catenet-challenge.${hostname}` })
        assert.match(txt.value, /^catenet-tunnel=[0-9a-f]{32}$/)
        assert.deepInclude(cname, { type: "CNAME", name: hostname })
        assert.match(cname.value, /^[0-9a-f]{32}\.tunnels\.zone\.example$/)
        const refused = yield* verify("eve", body.id)
        assert.deepInclude(refused.body, { status: 409, code: "HostnameNotProved", hostname })
        assert.deepStrictEqual(refused.body.records, body.hostname_proof.records)
        assert.isEmpty(orders.filter(({ path }) => path.includes(hostname)))
        const token = yield* tokenOf("eve", body.id)
        assert.strictEqual((yield* ask("eve", `/agent/acme-admission/${token}/${hostname}`)).status, 404)
        const challenge = { token, hostname, value: "mine" }
        assert.strictEqual((yield* ask("eve", "/agent/dns01-challenge", challenge)).status, 404)
      }
      assert.strictEqual((yield* NameServer).texts.size, 0)
    })
  )

  it.effect("below another tenant's host is refused, below an own one it can be proved", () =>
    Effect.gen(function* () {
      const shop = yield* claimed("ada", "shop.example.org")
      const early = yield* claimed("eve", "early.shop.example.org")
      assert.strictEqual((yield* verify("ada", shop.id)).status, 200)
      const below = { status: 409, code: "HostnameReserved", reason: "below-another-host" }
      assert.deepInclude((yield* create("eve", "login.shop.example.org")).body, below)
      assert.deepInclude((yield* create("eve", `login.cam.${zone}`)).body, below)
      assert.deepInclude((yield* verify("eve", early.id)).body, below, "claimed before, proved after")
      const order = `/registry/authorize-host/${"cd".repeat(32)}/x.shop.example.org`
      assert.deepInclude((yield* ask("operator", order, undefined, "POST")).body, below)
      const own = yield* claimed("ada", "login.shop.example.org")
      assert.deepInclude((yield* verify("ada", own.id)).body, { hostname: "login.shop.example.org" })
    })
  )
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a wildcard of an account", (it) => {
  const taken = { status: 409, code: "HostnameReserved" }

  it.effect("stands below a name that an account can have, and not below names that the platform gives", () =>
    Effect.gen(function* () {
      for (const [hostname, reason] of [
        [`*.${zone}`, "zone"],
        ["*.zone.example", "zone"],
        [`*.cam.${zone}`, "below-zone"],
        ["*.co.uk", "public-suffix"],
        ["*.github.io", "public-suffix"],
        ["*.0.2.1", "address"]
      ] as const) {
        assert.deepInclude((yield* create("wes", hostname)).body, { ...taken, reason }, hostname)
        const order = `/registry/authorize-host/${"ab".repeat(32)}/${hostname}`
        assert.deepInclude((yield* ask("operator", order, undefined, "POST")).body, { ...taken, reason }, hostname)
      }
      for (const hostname of ["*.net", "a.*.example.org", "*dev.example.org", "*.*.example.org", "*"])
        assert.strictEqual((yield* create("wes", hostname)).status, 400, hostname)
      assert.isEmpty((yield* ask("wes", "/me/tunnels")).body)
    })
  )

  it.effect("is proved by a record of the name that it stands below, and given up like any other", () =>
    Effect.gen(function* () {
      const made = yield* claimed("wes", " *.Dev.wes.example. ")
      assert.strictEqual(made.name, "_catenet-challenge.dev.wes.example")
      const proved = yield* verify("wes", made.id)
      assert.deepInclude(proved.body, { hostname: "*.dev.wes.example", status: "gelb" })
      const token = yield* tokenOf("wes", made.id)
      assert.deepStrictEqual(yield* routed("*.dev.wes.example"), [token])
      assert.deepInclude((yield* ask("wes", "/me/tunnels")).body[0], { hostname: "*.dev.wes.example" })
      const dns = yield* PublicDns
      const other = (yield* create("wes", "*.cname.wes.example")).body
      yield* dns.publish("CNAME", "*.cname.wes.example", other.hostname_proof.records[1].value)
      assert.deepInclude((yield* verify("wes", other.id)).body, { hostname: "*.cname.wes.example" })
      const given = yield* rename("wes", made.id, null)
      assert.match(given.body.hostname, /^site-[0-9a-f]{8}\.tunnels\.zone\.example$/u)
      assert.deepInclude((yield* create("eve", "x.dev.wes.example")).body, { hostname: null }, "free again")
    })
  )

  it.effect("keeps others from the names below it, and does not come over names of others", () =>
    Effect.gen(function* () {
      const dev = yield* claimed("wes", "*.dev.iso.example")
      const early = yield* claimed("eve", "early.dev.iso.example")
      assert.strictEqual((yield* verify("wes", dev.id)).status, 200)
      const below = { ...taken, reason: "below-another-host" }
      for (const hostname of ["x.dev.iso.example", "a.b.dev.iso.example", "*.b.dev.iso.example"])
        assert.deepInclude((yield* create("eve", hostname)).body, below, hostname)
      assert.deepInclude((yield* verify("eve", early.id)).body, below, "claimed before, proved after")
      const again = yield* claimed("eve", "*.dev.iso.example")
      yield* PublicDns.use(({ publish }) => publish("TXT", dev.name, dev.value, again.value))
      assert.deepInclude((yield* verify("eve", again.id)).body, { status: 409, code: "HostnameTaken" })
      const own = yield* claimed("wes", "x.dev.iso.example")
      assert.deepInclude((yield* verify("wes", own.id)).body, { hostname: "x.dev.iso.example" })

      const shop = yield* claimed("ada", "shop.mall.example")
      assert.strictEqual((yield* verify("ada", shop.id)).status, 200)
      const above = { ...taken, reason: "above-another-host" }
      assert.deepInclude((yield* create("eve", "*.mall.example")).body, above)
      const order = `/registry/authorize-host/${"cd".repeat(32)}/*.mall.example`
      assert.deepInclude((yield* ask("operator", order, undefined, "POST")).body, above)
      const mall = yield* claimed("ada", "*.mall.example")
      assert.deepInclude((yield* verify("ada", mall.id)).body, { hostname: "*.mall.example" })
    })
  )

  it.effect("proved at the same moment as a name below it of another account, one of the two is refused", () =>
    Effect.gen(function* () {
      for (const round of ["a", "b", "c", "d"]) {
        const wild = yield* claimed("wes", `*.${round}.race.example`)
        const name = yield* claimed("eve", `x.${round}.race.example`)
        const answers = yield* Effect.all([verify("wes", wild.id), verify("eve", name.id)], {
          concurrency: "unbounded"
        })
        assert.sameMembers(
          answers.map(({ status }) => status),
          [200, 409],
          JSON.stringify(answers)
        )
      }
    })
  )

  it.effect("has its challenges published in the platform's zone once its owner lets it", () =>
    Effect.gen(function* () {
      const { texts } = yield* NameServer
      const dns = yield* PublicDns
      const hostname = "*.dev.acme.example"
      const { id } = yield* claimed("wes", hostname)
      const { body } = yield* verify("wes", id)
      const { certificate } = body.hostname_proof
      assert.deepInclude(certificate, { type: "CNAME", name: "_acme-challenge.dev.acme.example" })
      assert.match(certificate.value, /^_acme-challenge\.[0-9a-f]{32}\.zone\.example$/u)
      yield* offer(hostname)
      const token = yield* tokenOf("wes", id)
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: true })
      const publish = ask("anonymous", "/agent/dns01-challenge", { token, hostname, value: "proof" })
      const refused = yield* publish
      assert.deepInclude(refused.body, { status: 409, code: "ChallengeNotDelegated", record: certificate })
      assert.include(refused.body.detail, certificate.value)
      yield* dns.publish("CNAME", certificate.name, "_acme-challenge.other.zone.example")
      assert.strictEqual((yield* publish).status, 409)
      assert.isFalse(texts.has(certificate.value))
      yield* dns.publish("CNAME", certificate.name, certificate.value)
      assert.strictEqual((yield* publish).status, 200)
      assert.strictEqual(texts.get(certificate.value), "proof")
      yield* ask("anonymous", "/agent/dns01-challenge/clear", { token, hostname })
      assert.isFalse(texts.has(certificate.value))
      const plain = yield* claimed("wes", "plain.acme.example")
      assert.notProperty((yield* verify("wes", plain.id)).body.hostname_proof, "certificate")
    })
  )
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a proof of a host name", (it) => {
  it.effect("is a TXT record, or a CNAME to the tunnel's given name, which has address records", () =>
    Effect.gen(function* () {
      const dns = yield* PublicDns
      const txt = yield* claimed("ada", "txt.example.org")
      const proved = yield* verify("ada", txt.id)
      assert.deepInclude(proved.body, { hostname: "txt.example.org", status: "gelb" })
      assert.deepInclude(proved.body.hostname_proof, { state: "proved" })
      assert.isNumber(proved.body.hostname_proof.checked_at)
      assert.deepStrictEqual(yield* routed("txt.example.org"), [yield* tokenOf("ada", txt.id)])

      const { body } = yield* create("ada", "cname.example.org")
      const target: string = body.hostname_proof.records[1].value
      yield* dns.publish("CNAME", "cname.example.org", `other.${target}`)
      assert.strictEqual((yield* verify("ada", body.id)).status, 409)
      yield* dns.publish("CNAME", "cname.example.org", target.toUpperCase())
      assert.deepInclude((yield* verify("ada", body.id)).body, { hostname: "cname.example.org" })
      assert.deepStrictEqual(yield* routed("cname.example.org"), [yield* tokenOf("ada", body.id)])
      const wanted = sql((sql) => sql`select 1 from address_records where hostname = ${target} and wanted`)
      assert.strictEqual((yield* wanted).length, 1)
      assert.strictEqual((yield* ask("ada", `/me/tunnels/${body.id}`, undefined, "DELETE")).status, 200)
      assert.strictEqual((yield* wanted).length, 0)
    })
  )

  it.effect("is of one tunnel: another tunnel's record proves nothing, nor does another's account see it", () =>
    Effect.gen(function* () {
      const first = yield* claimed("ada", "mine.example.org")
      const second = (yield* create("eve", "mine.example.org")).body
      assert.deepInclude((yield* verify("eve", second.id)).body, { code: "HostnameNotProved" })
      assert.deepInclude((yield* verify("eve", first.id)).body, { status: 404, code: "TunnelNotFound" })
      assert.strictEqual((yield* verify("ada", first.id)).status, 200)
      const dns = yield* PublicDns
      yield* dns.publish("TXT", first.name, first.value, second.hostname_proof.records[0].value)
      assert.deepInclude((yield* verify("eve", second.id)).body, { status: 409, code: "HostnameTaken" })
      yield* dns.publish("TXT", first.name, second.hostname_proof.records[0].value)
      assert.deepInclude((yield* verify("eve", second.id)).body, { hostname: "mine.example.org" }, "it was sold")
      assert.deepInclude((yield* ask("ada", `/me/tunnels/${first.id}`)).body, { hostname: null, status: "rot" })
      assert.strictEqual((yield* routed("mine.example.org")).at(-1), yield* tokenOf("eve", second.id))
    })
  )

  it.effect("of two tunnels at once gives the name to one", () =>
    Effect.gen(function* () {
      const dns = yield* PublicDns
      const claims = yield* Effect.forEach(["ada", "eve"], (sub) => claimed(sub, "race.example.org"))
      yield* dns.publish("TXT", claims[0]!.name, ...claims.map(({ value }) => value))
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, (_, n) => verify(n % 2 === 0 ? "ada" : "eve", claims[n % 2]!.id)),
        { concurrency: "unbounded" }
      )
      const of = (n: number) => new Set(answers.filter((_, at) => at % 2 === n).map(({ status }) => status))
      assert.deepStrictEqual([of(0), of(1)].map((each) => [...each].join()).sort(), ["200", "409"])
      assert.strictEqual(new Set(yield* routed("race.example.org")).size, 1)
    })
  )

  it.effect("is not missing while DNS does not answer, and an account may look 30 times a minute", () =>
    Effect.gen(function* () {
      const dns = yield* PublicDns
      const { id } = yield* claimed("kim", "slow.example.org")
      yield* dns.behave("failing")
      assert.deepInclude((yield* verify("kim", id)).body, { status: 502, code: "DnsUnanswered" })
      yield* dns.behave("well")
      const answers = yield* Effect.all(
        Array.from({ length: 30 }, () => verify("kim", id)),
        { concurrency: 4 }
      )
      const spent = answers.filter(({ status }) => status === 429).length
      assert.isTrue(spent === 1 || spent === 0, "one, unless the minute changed between")
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 30 - spent)
    })
  )
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("another host name of a tunnel", (it) => {
  it.effect("leads to it once its proof was seen; until then the one before does, which is free afterwards", () =>
    Effect.gen(function* () {
      const { orders } = yield* RecordingEdge
      const released = (hostname: string) =>
        orders.filter(({ path }) => path === `/admin/release-host/${hostname}`).length
      const { body: made } = yield* ask("ada", "/me/tunnels", { name: "swap" })
      const asked = yield* rename("ada", made.id, "WWW.Swap.example.")
      assert.deepInclude(asked.body, { hostname: made.hostname, status: "gelb" })
      assert.deepInclude(asked.body.hostname_proof, { hostname: "www.swap.example", state: "pending" })
      assert.deepStrictEqual((yield* rename("ada", made.id, "www.swap.example")).body, asked.body, "asked again")
      assert.deepInclude((yield* verify("ada", made.id)).body, { code: "HostnameNotProved" })
      assert.isEmpty(yield* routed("www.swap.example"))

      const [{ name, value }] = asked.body.hostname_proof.records
      yield* PublicDns.use(({ publish }) => publish("TXT", name, value))
      const proved = yield* verify("ada", made.id)
      assert.deepInclude(proved.body, { hostname: "www.swap.example", status: "gelb" })
      const token = yield* tokenOf("ada", made.id)
      assert.deepStrictEqual([yield* routed("www.swap.example"), released(made.hostname)], [[token], 1])
      const rows = yield* sql(
        (sql) => sql`
        select hostname from hosts where routing_token = ${token}
        union all select hostname from address_records where hostname = ${made.hostname} and wanted`
      )
      assert.deepStrictEqual(rows, [{ hostname: "www.swap.example" }])

      // One at a time: the proved name is given up first, and the platform's is there again.
      const held = { status: 409, code: "HostnameHeld", hostname: "www.swap.example" }
      assert.deepInclude((yield* rename("ada", made.id, "other.example")).body, held)
      const given = yield* rename("ada", made.id, null)
      assert.deepInclude(given.body, { hostname: made.hostname, hostname_proof: null, status: "gelb" })
      yield* until(
        Effect.sync(() => released("www.swap.example")),
        (count) => count === 1
      )
      assert.strictEqual((yield* create("eve", "www.swap.example")).status, 200)
    })
  )

  it.effect("may be another one of the zone, at once, and is refused where no tunnel can have it", () =>
    Effect.gen(function* () {
      const { body: made } = yield* ask("ada", "/me/tunnels", { name: "pick" })
      yield* create("eve", `picked.${zone}`)
      for (const [hostname, code] of [
        [`picked.${zone}`, "HostnameTaken"],
        [`portal.${zone}`, "HostnameReserved"],
        ["com", "HostnameReserved"]
      ] as const)
        assert.deepInclude((yield* rename("ada", made.id, hostname)).body, { status: 409, code }, hostname)
      assert.deepStrictEqual((yield* ask("ada", `/me/tunnels/${made.id}`)).body, made, "nothing has changed")
      const { body } = yield* rename("ada", made.id, `mine.${zone}`)
      assert.deepStrictEqual(body, { ...made, hostname: `mine.${zone}` })
      assert.strictEqual((yield* create("eve", made.hostname)).status, 200, "the one before is free")
      // What was claimed and not proved gives way to the next wish, or to none.
      yield* rename("ada", made.id, "one.pick.example")
      const two = yield* rename("ada", made.id, "two.pick.example")
      assert.deepInclude(two.body.hostname_proof, { hostname: "two.pick.example", state: "pending" })
      assert.deepStrictEqual((yield* rename("ada", made.id, null)).body, body)
      assert.deepInclude((yield* rename("eve", made.id, null)).body, { status: 404, code: "TunnelNotFound" })
    })
  )
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a certificate for a host name", (it) => {
  it.effect("needs its proof again: gone from DNS, or DNS silent, is no certificate", () =>
    Effect.gen(function* () {
      const dns = yield* PublicDns
      const hostname = "again.example.org"
      const { id, name, value } = yield* claimed("ada", hostname)
      yield* verify("ada", id)
      const token = yield* tokenOf("ada", id)
      yield* offer(hostname)
      const before = dns.asked()
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: true })
      assert.isAbove(dns.asked(), before)
      yield* offer(hostname)
      yield* dns.behave("failing")
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: false, assigned_ca: null })
      yield* dns.behave("well")
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: true })
      yield* offer(hostname)
      yield* dns.publish("TXT", name)
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: false, assigned_ca: null })
      assert.deepInclude((yield* ask("ada", `/me/tunnels/${id}`)).body.hostname_proof, { state: "pending" })
      yield* dns.publish("TXT", name, value)
      assert.deepInclude(yield* mayIssue(token, hostname), { may_issue_now: true })
    })
  )

  it.effect("has its challenge published for given and provisioned names alone", () =>
    Effect.gen(function* () {
      const { texts } = yield* NameServer
      const given = (yield* create("ada", `given.${zone}`)).body
      const { body: made } = yield* ask("operator", "/admin/provision-tunnel", {
        subject: "ada",
        name: "n",
        hostname: "provisioned.zone.example"
      })
      const proved = yield* claimed("ada", "proved.zone.example")
      yield* verify("ada", proved.id)
      for (const [hostname, token, status] of [
        [`given.${zone}`, yield* tokenOf("ada", given.id), 200],
        ["provisioned.zone.example", made.routing_token, 200],
        ["proved.zone.example", yield* tokenOf("ada", proved.id), 403]
      ] as const) {
        yield* offer(hostname)
        const answer = yield* ask("anonymous", "/agent/dns01-challenge", { token, hostname, value: "v" })
        assert.strictEqual(answer.status, status, hostname)
        if (status === 403) assert.strictEqual(answer.body.code, "ChallengeNotBrokered")
        assert.strictEqual(texts.has(`_acme-challenge.${hostname}`), status === 200)
        texts.set(`_acme-challenge.${hostname}`, "the operator's own")
        const cleared = yield* ask("anonymous", "/agent/dns01-challenge/clear", { token, hostname })
        assert.strictEqual(cleared.status, status, hostname)
        assert.strictEqual(texts.has(`_acme-challenge.${hostname}`), status !== 200)
      }
    })
  )

  it.effect("is an operator's to allow, without a proof", () =>
    Effect.gen(function* () {
      const { body } = yield* create("ada", "allowed.example.org")
      const token = yield* tokenOf("ada", body.id)
      const order = (hostname: string) =>
        ask("operator", `/registry/authorize-host/${token}/${hostname}`, undefined, "POST")
      assert.strictEqual((yield* order("allowed.example.org")).status, 200)
      const { body: after } = yield* ask("ada", `/me/tunnels/${body.id}`)
      assert.deepInclude(after, { hostname: "allowed.example.org", hostname_proof: null, status: "gelb" })
      yield* offer("allowed.example.org")
      assert.deepInclude(yield* mayIssue(token, "allowed.example.org"), { may_issue_now: true })
    })
  )

  it.effect("is not for the token of a deleted tunnel, whose names are free again", () =>
    Effect.gen(function* () {
      const { body } = yield* create("ada", `gone.${zone}`)
      const token = yield* tokenOf("ada", body.id)
      yield* ask("ada", `/me/tunnels/${body.id}`, undefined, "DELETE")
      for (const hostname of [`gone.${zone}`, `new.${zone}`]) {
        const refused = yield* ask("operator", `/registry/authorize-host/${token}/${hostname}`, undefined, "POST")
        assert.deepInclude(refused.body, { status: 409, code: "RoutingTokenRevoked" })
        assert.deepInclude((yield* create("eve", hostname)).body, { hostname })
      }
    })
  )

  it.effect("leaves no name with a token that is revoked while it is authorized", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 8; n++) {
        const { body } = yield* create("ada", `race-${n}.${zone}`)
        const token = yield* tokenOf("ada", body.id)
        yield* Effect.all(
          [
            ask("operator", `/registry/authorize-host/${token}/free-${n}.${zone}`, undefined, "POST"),
            ask("ada", `/me/tunnels/${body.id}`, undefined, "DELETE")
          ],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* sql((sql) => sql`select hostname from hosts where routing_token = ${token}`), [])
      }
    })
  )
})
