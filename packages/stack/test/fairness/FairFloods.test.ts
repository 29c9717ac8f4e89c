/**
 * One address, one account or one token takes everything it can of a resource of a running edge and control plane, and a second one is
 * served. Small caps in the gate; the campaign has those of an edge by default (CATENET_FAIR_SCALE).
 */
import { ChannelRegistration, MemberMaterial } from "@catenet/domain/channels/Channel"
import { muxAgent, slotAgent } from "@catenet/testing/edge/Agent"
import * as Members from "@catenet/testing/edge/Members"
import { account } from "@catenet/testing/server/gate/SignInServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema, type Scope } from "effect"
import type { Socket } from "node:net"
import * as Fair from "./FairStack.ts"

const { caps } = Fair
const registrationOf = Schema.decodeSync(ChannelRegistration)
const materialOf = Schema.decodeSync(MemberMaterial)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const [vera, eve] = ["vera@example.test", "eve@example.test"] as const

/** How often an attempt goes well until the first one that does not, of so many. */
const untilRefused = Effect.fnUntraced(function* <E, R>(most: number, attempt: () => Effect.Effect<boolean, E, R>) {
  let count = 0
  while (count < most && (yield* attempt())) count++
  return count
})

layer(Fair.stack, { excludeTestServices: true, timeout: "600 seconds" })(
  "what one party takes leaves room for another",
  (it) => {
    it.effect("visitors, agents and members of an edge", () =>
      Effect.gen(function* () {
        const edge = yield* Fair.FairEdge
        const mine = yield* Effect.forEach(["vera-1", "vera-2", "vera-3"], (name) => Fair.tunnelOf(vera, name))
        const hers = yield* Effect.forEach(["eve-1", "eve-2", "eve-3", "eve-4"], (name) => Fair.tunnelOf(eve, name))
        const [first, second, third] = mine
        const [served, ...later] = hers
        if (first === undefined || second === undefined || third === undefined || served === undefined)
          return assert.fail()
        yield* Fair.agentOf(first)
        yield* Fair.agentOf(served)
        const visits = Effect.fnUntraced(function* (what: string, ...hosts: ReadonlyArray<string>) {
          for (const host of hosts) assert.strictEqual(yield* Fair.visit(host), 200, what)
        })
        yield* visits("at first", first.host, served.host)

        const silent = (host: string) => Fair.silentTls(edge.frontDoor, edge.wildcardRoot, host)
        const floods: ReadonlyArray<readonly [what: string, count: number, open: () => Promise<Socket>]> = [
          ["visitors of a tunnel from one address", 2 * caps.visitorsOfTunnel, silent(first.host)],
          ["visitors of an edge from one address", 2 * caps.visitors, silent(second.host)],
          ["connections from one address", 2 * caps.connections, Fair.silentTcp(edge.frontDoor)],
          ["connections to the port of agents from one address", 2 * caps.connections, Fair.silentTcp(edge.mesh)]
        ]
        for (const [what, count, open] of floods)
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* Fair.flood(count, open)
              yield* visits(what, first.host, served.host)
            })
          )

        const comes = Effect.fnUntraced(function* (what: string, { host, token }: (typeof hers)[number]) {
          yield* Fair.agentOf({ host, token })
          assert.strictEqual(yield* Fair.visit(host), 200, what)
          const { parked } = yield* slotAgent(edge, token, "B", host)
          assert.isTrue(Result.isSuccess(parked), `${what}: a slot`)
        })
        const registers = (tokens: ReadonlyArray<string>, count: number) =>
          Effect.forEach(
            Array.from({ length: count }, (_, n) => tokens[n % tokens.length] ?? ""),
            (token) => Effect.flatMap(muxAgent(edge), ({ register }) => Effect.promise(() => register(token, []))),
            { discard: true }
          )
        const takers: ReadonlyArray<readonly [what: string, take: Effect.Effect<unknown, unknown, Scope.Scope>]> = [
          ["agents of one token", registers([first.token], 2 * caps.agents)],
          ["agents of one account", registers([first.token, second.token, third.token], 2 * caps.agents)],
          ["agents that say nothing", Fair.flood(2 * caps.agents, Fair.agentTls(edge, "ct-edge-mux"))],
          [
            "slots of one token",
            Effect.forEach(
              Array.from({ length: 2 * caps.agents }, () => first),
              ({ host, token }) => slotAgent(edge, token, "B", host),
              { discard: true }
            )
          ]
        ]
        for (const [index, [what, take]] of takers.entries()) {
          const newcomer = later[index % later.length]
          if (newcomer === undefined) return assert.fail()
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* take
              yield* comes(what, newcomer)
              yield* visits(what, served.host)
            })
          )
        }

        const channel = Members.channel()
        const pair = [Members.member(channel), Members.member(channel)] as const
        const { channels } = yield* account(eve)
        const id = hex(channel.id)
        const [, { operator_pubkey }] = Members.row(pair[0])
        const registration = registrationOf({ channel: id, operator_pubkey })
        yield* channels.register({ payload: registration })
        for (const { attestation, holder, noiseKey } of pair) {
          const material = { holder: hex(holder), noise_pubkey: hex(noiseKey), noise_attestation: hex(attestation) }
          yield* channels.addMember({ params: { channel: registration.channel }, payload: materialOf(material) })
        }
        yield* Fair.flood(
          2 * caps.members,
          Fair.silentTls(edge.frontDoor, edge.meshRoot, "localhost", "ct-edge-channel")
        )
        const [one, two] = yield* Effect.promise(async () => {
          const joined = [
            await Members.join(edge, pair[0], { phase: 2 }),
            await Members.join(edge, pair[1], { phase: 2 })
          ] as const
          await Promise.all(joined.map(Members.acknowledged))
          return joined
        })
        one.send(Members.ascii("hello"))
        assert.strictEqual(String(yield* Effect.promise(() => two.take(5))), "hello", "members of channels")
        for (const { socket } of [one, two]) socket.destroy()
      }).pipe(Effect.scoped)
    )

    it.effect("tunnels of one account, and channels of one account", () =>
      Effect.gen(function* () {
        const create = (who: typeof vera | typeof eve) =>
          Fair.tunnelOf(who, "row").pipe(
            Effect.as(true),
            Effect.orElseSucceed(() => false)
          )
        assert.isBelow(yield* untilRefused(caps.tunnels + 1, () => create(vera)), caps.tunnels + 1)
        assert.isTrue(yield* create(eve))
        const register = (who: typeof vera | typeof eve) =>
          Effect.gen(function* () {
            const { channels } = yield* account(who)
            const [, { operator_pubkey }] = Members.row(Members.member(Members.channel()))
            yield* channels.register({
              payload: registrationOf({ channel: hex(Members.channel().id), operator_pubkey })
            })
            return true
          }).pipe(Effect.orElseSucceed(() => false))
        assert.isBelow(yield* untilRefused(caps.channels + 1, () => register(vera)), caps.channels + 1)
        assert.isTrue(yield* register(eve))
      }).pipe(Effect.scoped)
    )

    it.effect("sign-in pages from one address, and streams of a public page from one address", () =>
      Effect.gen(function* () {
        const page = (from: string) => Effect.map(Fair.asked("/portal/login", from), (status) => status === 303)
        assert.isAtMost(yield* untilRefused(2 * caps.signIns + 1, () => page(Fair.crowd)), 2 * caps.signIns)
        assert.isTrue(yield* page(Fair.other))

        const { topologies } = yield* account(eve)
        const { net_uuid } = yield* topologies.create({ headers: {} })
        const stream = (from: string) =>
          Effect.map(Fair.held(`/net/${net_uuid}/events`, from), (status) => status === 200)
        assert.isBelow(yield* untilRefused(100, () => stream(Fair.crowd)), 100)
        assert.isTrue(yield* stream(Fair.other))
      }).pipe(Effect.scoped)
    )

    it.effect("requests of one account, and of one address that has none", () =>
      Effect.gen(function* () {
        const bearer = (who: typeof vera | typeof eve) => Fair.bearerOf(who)
        const list = (token: string) =>
          Effect.map(
            Fair.asked("/me/tunnels", Fair.crowd, { headers: { authorization: `Bearer ${token}` } }),
            (status) => status === 200
          )
        const [greedy, modest] = [yield* bearer(vera), yield* bearer(eve)]
        const most = 3 * caps.requests
        assert.isBelow(yield* untilRefused(most, () => list(greedy)), most)
        assert.isTrue(yield* list(modest), "another account at the same address")
        const open = (from: string) => Effect.map(Fair.asked("/registry/agents", from), (status) => status === 200)
        assert.isBelow(yield* untilRefused(most, () => open(Fair.crowd)), most)
        assert.isTrue(yield* open(Fair.other), "another address")
      })
    )
  }
)
