/**
 * Every variable of the contract, in its order: what its absence means, what is taken, and each kind of text that is refused by
 * a sentence that begins with its name. What the values become is in the tables of the commands beside this file.
 * One file, since it is one table, with a row for each variable of the contract.
 */
import * as Hex from "@catenet/crypto/Hex"
import { type ConfigurationInvalid, sentence } from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { makeChannel } from "@catenet/testing/agent/Member"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, type FileSystem, Result } from "effect"
import { inspect } from "node:util"
import * as CardVariables from "../../src/settings/CardVariables.ts"
import * as ChannelOwnerVariables from "../../src/settings/ChannelOwnerVariables.ts"
import * as LoginVariables from "../../src/settings/LoginVariables.ts"
import * as MemberSettings from "../../src/settings/MemberSettings.ts"
import * as Settings from "../../src/settings/Settings.ts"
import * as Variables from "../../src/settings/Variables.ts"

type Raw = Readonly<Record<string, string>>
type Read = (raw: Raw) => Effect.Effect<unknown, ConfigurationInvalid, FileSystem.FileSystem>

/** A command: how it reads its variables, and what it is given beside the one in question. */
interface Command {
  readonly read: Read
  readonly base: Raw
}

const provided = (raw: Raw) => ConfigProvider.fromUnknown(raw, { preserveEmptyStrings: true })
const given = (command: Command, more: Raw): Command => ({ ...command, base: { ...command.base, ...more } })
const ofRecord = (variables: VariableReader.Variables, base: Raw = {}): Command => ({
  base,
  read: (raw) => VariableReader.read(variables, { sources: [provided(raw)] })
})

const key = "ab".repeat(32)
const rootHex = Hex.encode(makeAuthority().der)
const member = makeChannel().member("initiate")

const readTunnel: Read = (raw) => Settings.readFrom(provided(raw))
const controlPlane = { CT_AGENT_CP_URL: "https://portal.example.org" }
const mesh: Command = { read: readTunnel, base: controlPlane }
const browser = given(mesh, { CT_AGENT_MODE: "browser", CT_AGENT_HOSTNAME: "hello.example.org" })
const terminating = given(browser, { CT_AGENT_ORIGIN_TLS: "terminate", CT_ACME_CERT_OUT_DIR: "/certs" })
const updating = given(browser, { CT_AGENT_AUTO_UPDATE: "1" })

const broker: Command = {
  read: (raw) =>
    Effect.provideService(
      MemberSettings.read(undefined),
      ConfigProvider.ConfigProvider,
      provided(raw)
    ) as ReturnType<Read>,
  base: {
    ...member.env,
    CT_CHANNEL_BROKER: "edge.example.net:4435",
    CT_CHANNEL_RELAY: "edge.example.net:4436",
    CT_CHANNEL_LISTEN: "203.0.113.7:7001"
  }
}
const direct: Command = {
  read: broker.read,
  base: {
    CT_CHANNEL_ROLE: "accept",
    CT_CHANNEL_ADDR: "192.0.2.1:7001",
    CT_CHANNEL_PEER_NOISE_KEY: key,
    CT_CHANNEL_NOISE_KEY: "cd".repeat(32)
  }
}
const doored = given(broker, { CT_CHANNEL_FRONT_DOOR: "edge.example.net:443", CT_CHANNEL_FRONT_DOOR_CERT: rootHex })
const gated = given(broker, {
  CT_CHANNEL_RELAY_ONLY: "1",
  CT_CHANNEL_RELAY_GATE: "edge.example.net:443",
  CT_CHANNEL_RELAY_GATE_CERT: rootHex
})
const serving = given(broker, { CT_CHANNEL_SERVE: "1", CT_AGENT_SERVICE_HANDLER_CMD: "cat" })
const streaming = given(broker, { CT_CHANNEL_SERVE: "1", CT_AGENT_STREAM_HANDLER_CMD: "cat" })
const offering = given(serving, {
  CT_AGENT_OFFER_KIND: "local",
  CT_AGENT_OFFER_MODELS: "m",
  CT_AGENT_OFFER_UNITS: "10",
  CT_AGENT_OFFER_MIN_PRICE: "5",
  CT_AGENT_OFFER_CURRENCY: "EUR"
})
const material = ofRecord(ChannelOwnerVariables.memberMaterial, {
  CT_CHANNEL_OPERATOR_PUBKEY: key,
  CT_CHANNEL_BRIDGE_HOLDER: key,
  CT_CHANNEL_HOLDER_KEY: key,
  CT_CHANNEL_NOISE_PUBKEY: key
})
const granting = ofRecord(ChannelOwnerVariables.grantMember, {
  CT_CHANNEL_OPERATOR_KEY: key,
  CT_GRANT_CHANNEL: key,
  CT_GRANT_MEMBER_HOLDER: key,
  CT_GRANT_DIRECTION: "initiate",
  CT_GRANT_EXPIRES: "1893456000"
})
const role = ofRecord(ChannelOwnerVariables.joinPipelineRole, {
  ...material.base,
  CT_PIPELINE_ID: "story",
  CT_PIPELINE_ROLE: "writer"
})
const binding = ofRecord(ChannelOwnerVariables.bindTopology, {
  CT_CHANNEL_OPERATOR_KEY: key,
  CT_TOPOLOGY_ID: "00".repeat(16)
})
const carding = ofRecord(CardVariables.agentCard, { CT_CHANNEL_HOLDER_KEY: key, CT_AGENT_CARD_ROLES: "writer" })
const login = ofRecord(LoginVariables.login)
const certificate = ofRecord(Variables.certificate, {
  ...controlPlane,
  CT_AGENT_TOKEN: key,
  CT_AGENT_HOSTNAME: "hello.example.org",
  CT_ACME_CERT_OUT_DIR: "/certs"
})

/** Each kind of what is no 32 bytes in hex. */
const noKey = {
  "too short": "ab".repeat(31),
  "too long": "ab".repeat(33),
  "an odd count": `${"ab".repeat(31)}a`,
  "no hex": `${"ab".repeat(31)}zz`,
  "no ASCII": "ü".repeat(64)
}
const noAddress = {
  "without a scheme": "portal.example.org",
  "another scheme": "ftp://a.example",
  "a query": "https://a.example/?b"
}
const noPlace = {
  "without a port": "edge.example.net",
  "port 0": "edge.example.net:0",
  "a port too high": "a.example:65536",
  "a URL": "https://a.example:1"
}
const noSocket = { "without a host": "9610", "no port": "127.0.0.1", "a port too high": "127.0.0.1:65536" }
const noCount = { "no number": "many", negative: "-1", "a fraction": "1.5" }
const noSeconds = { ...noCount, zero: "0" }
const noUnsigned = { ...noCount, "2^64": "18446744073709551616" }
const noCertificate = {
  "an odd count": rootHex.slice(1),
  "no hex": `zz${rootHex.slice(2)}`,
  cut: rootHex.slice(0, -4),
  longer: `${rootHex}00`
}
const noLine = { "two lines": "two\nlines", "too long": "a".repeat(257) }

interface Row {
  readonly of: Command
  /** `refused`, or the text that means the same, or nothing where absence has a meaning of its own. */
  readonly absent?: string
  readonly good: string
  readonly bad?: Readonly<Record<string, string>>
  /** Texts that the contract has count as none. */
  readonly ignored?: ReadonlyArray<string>
}

const rows: Readonly<Record<string, Row>> = {
  CT_AGENT_CP_URL: { of: browser, absent: "refused", good: "http://10.0.0.1:8090", bad: { ...noAddress, blank: " " } },
  CT_AGENT_JOIN_TOKEN: { of: browser, good: key, bad: noKey },
  CT_AGENT_TOKEN: { of: certificate, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_BOOTSTRAP: { of: browser, good: "any text", ignored: [" "] },
  CT_AGENT_HOSTNAME: {
    of: browser,
    absent: "refused",
    good: "other.example",
    bad: { "a URL": "https://a.example", "a bad letter": "a_b.example", "a hyphen first": "-a.example" }
  },
  CT_AGENT_ORIGIN: {
    of: browser,
    absent: "127.0.0.1:8080",
    good: "[::1]:80",
    bad: { ...noPlace, "a URL": "ftp://a.example:1", "a port alone": "8080" }
  },
  CT_AGENT_ORIGIN_PROTO: { of: mesh, absent: "tcp", good: "udp", bad: { "another protocol": "http", blank: " " } },
  CT_AGENT_ORIGIN_TLS: { of: terminating, absent: "passthrough", good: "terminate", bad: { "another word": "on" } },
  CT_AGENT_TLS_CERT: { of: terminating, absent: "/certs/fullchain.pem", good: "/a/chain.pem" },
  CT_AGENT_TLS_KEY: { of: terminating, absent: "/certs/privkey.pem", good: "/a/key.pem" },
  CT_AGENT_MODE: { of: browser, good: "browser", bad: { "a misspelling": "brwoser" } },
  CT_AGENT_EDGE: { of: browser, good: "edge.example.org:4433", bad: noPlace },
  CT_AGENT_EDGE_CERT_URL: { of: browser, good: "https://ca.example.org", bad: noAddress },
  CT_AGENT_EDGE_CERT: { of: browser, absent: "/shared/edge-cert.der", good: "/a/root.der" },
  CT_AGENT_EDGE_CERT_WAIT_SECS: { of: browser, good: "30", ignored: ["soon", "-1", ""] },
  CT_AGENT_EDGE_CERT_LOG_INTERVAL_SECS: { of: browser, absent: "5", good: "7", ignored: ["often", ""] },
  CT_AGENT_ID: { of: browser, good: "pi-4", bad: { "two lines": "two\nlines", "too long": "x".repeat(129) } },
  CT_AGENT_STATE_DIR: { of: browser, good: "/var/lib/agent" },
  CT_AGENT_CAPABILITY_OUT: { of: mesh, absent: "/shared/capability.bin", good: "/a/capability.bin" },
  CT_AGENT_ORIGIN_KEY: { of: mesh, good: "/a/origin.key" },
  CT_AGENT_ORIGIN_KEY_DIR: { of: mesh, good: "/a/retired" },
  CT_AGENT_ONBOARD_TIMEOUT_SECS: { of: browser, good: "20", ignored: ["soon", ""] },
  CT_ACME_CERT_OUT_DIR: { of: certificate, absent: "refused", good: "/others" },
  CT_AGENT_RECONNECT_MAX_ATTEMPTS: { of: browser, absent: "0", good: "3", ignored: ["many", "-1", "4294967296"] },
  CT_AGENT_FALLBACK_443: { of: browser, absent: "0", good: "yes", ignored: ["FALSE", ""] },
  CT_AGENT_TCP_FALLBACK_POOL_SIZE: { of: browser, absent: "6", good: "1", bad: noSeconds },
  CT_AGENT_DIRECT_ADVERTISE: {
    of: mesh,
    good: "192.0.2.1",
    bad: { "a name": "a.example", "a port too": "192.0.2.1:1" }
  },
  CT_AGENT_AUTO_UPDATE: { of: browser, absent: "0", good: "TRUE", ignored: ["yes", "on"] },
  CT_AGENT_AUTO_UPDATE_INTERVAL_SECS: { of: updating, absent: "86400", good: "300", ignored: ["daily", ""] },
  CT_AGENT_UPDATE_SKIP_VERIFY: { of: updating, absent: "0", good: "1", ignored: ["yes", "on"] },
  CT_AGENT_RELEASE_PUBKEY: { of: updating, good: key, bad: noKey },
  CT_CHANNEL_ROLE: { of: direct, absent: "refused", good: "initiate", bad: { "another word": "client", blank: " " } },
  CT_CHANNEL_ADDR: {
    of: direct,
    absent: "refused",
    good: "[::1]:7001",
    bad: { ...noSocket, "a name": "localhost:7001" }
  },
  CT_CHANNEL_BROKER: { of: broker, good: "192.0.2.1:4435", bad: noPlace },
  CT_CHANNEL_RELAY: { of: broker, absent: "refused", good: "192.0.2.1:4436", bad: noPlace },
  CT_CHANNEL_LISTEN: {
    of: broker,
    absent: "refused",
    good: "203.0.113.8:0",
    bad: { ...noSocket, "a name": "localhost:7001" }
  },
  CT_CHANNEL_ADVERTISE: { of: broker, absent: "203.0.113.7:7001", good: "a.example:7001", bad: noPlace },
  CT_CHANNEL_RELAY_ONLY: { of: broker, absent: "0", good: "1", ignored: ["true", "yes"] },
  CT_CHANNEL_FRONT_DOOR: { of: broker, good: "edge.example.net:443", bad: noPlace },
  CT_CHANNEL_FRONT_DOOR_CERT: {
    of: given(broker, { CT_CHANNEL_FRONT_DOOR: "a.example:443" }),
    good: rootHex,
    bad: noCertificate
  },
  CT_CHANNEL_FRONT_DOOR_ONLY: { of: doored, absent: "0", good: "yes", ignored: ["on", ""] },
  CT_CHANNEL_RELAY_GATE: { of: gated, good: "192.0.2.1:443", bad: noPlace },
  CT_CHANNEL_RELAY_GATE_CERT: { of: gated, absent: "refused", good: rootHex, bad: noCertificate },
  CT_CHANNEL_CIRCUIT_RELAY: {
    of: given(broker, { CT_CHANNEL_RELAY_ONLY: "1" }),
    good: "/ip4/203.0.113.7/tcp/4440",
    bad: { "no address": "relay", "by UDP": "/ip4/203.0.113.7/udp/1/quic-v1", "port 0": "/ip4/203.0.113.7/tcp/0" }
  },
  CT_CHANNEL_DIRECT_UPGRADE: { of: doored, absent: "0", good: "true", ignored: ["on", ""] },
  CT_CHANNEL_GRANT: {
    of: broker,
    absent: "refused",
    good: member.grant,
    bad: { "too short": "ab".repeat(138), "too long": "ab".repeat(140), "no hex": "zz".repeat(139) }
  },
  CT_CHANNEL_HOLDER_KEY: { of: material, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_CHANNEL_OPERATOR_KEY: { of: granting, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_CHANNEL_OPERATOR_PUBKEY: { of: material, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_CHANNEL_NOISE_KEY: { of: broker, absent: "refused", good: "ef".repeat(32), bad: noKey },
  CT_CHANNEL_NOISE_PUBKEY: { of: material, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_CHANNEL_BRIDGE_HOLDER: { of: material, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_CHANNEL_ID: { of: ofRecord(ChannelOwnerVariables.ownedChannel), good: key, bad: noKey },
  CT_TOPOLOGY_ID: { of: binding, absent: "refused", good: "11".repeat(16), bad: noLine },
  CT_PIPELINE_ID: { of: role, absent: "refused", good: "tale", bad: noLine },
  CT_PIPELINE_ROLE: { of: role, absent: "refused", good: "critic", bad: noLine },
  CT_OIDC_TOKEN: { of: login, good: "a.b.c", ignored: [" "] },
  CT_OIDC_TOKEN_FILE: { of: login, good: "/a/token", ignored: [" "] },
  CT_OIDC_ISSUER: { of: login, good: "https://idp.example/realms/a", bad: noAddress },
  CT_OIDC_CLI_CLIENT_ID: { of: login, absent: "ct-agent-cli", good: "other" },
  CT_AGENT_LOGIN_TOKEN_FILE: { of: login, good: "/a/login.json" },
  CT_GRANT_CHANNEL: { of: granting, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_GRANT_MEMBER_HOLDER: { of: granting, absent: "refused", good: "cd".repeat(32), bad: noKey },
  CT_GRANT_DIRECTION: {
    of: granting,
    absent: "refused",
    good: "accept",
    bad: { "another word": "in", "two of them": "initiate,accept" }
  },
  CT_GRANT_EXPIRES: {
    of: granting,
    absent: "refused",
    good: "1893456001",
    bad: { ...noCount, relative: "30d", "too late": "9".repeat(17) }
  },
  CT_CHANNEL_SERVE: { of: broker, absent: "0", good: "TRUE", ignored: ["yes", "on"] },
  CT_CHANNEL_SERVE_CONCURRENCY: { of: serving, absent: "8", good: "1", ignored: ["0", "many", "-1"] },
  CT_AGENT_SERVICE_HANDLER_CMD: { of: given(broker, { CT_CHANNEL_SERVE: "1" }), good: "cat" },
  CT_AGENT_SERVICES: { of: serving, good: "text_generation,mine" },
  CT_AGENT_STREAM_HANDLER_CMD: { of: given(broker, { CT_CHANNEL_SERVE: "1" }), good: "cat" },
  CT_AGENT_STREAM_SERVICE: { of: streaming, good: "tty" },
  CT_CHANNEL_CALL_SERVICE: { of: broker, good: "text_generation" },
  CT_CHANNEL_CALL: { of: broker, good: "tools/list" },
  CT_CHANNEL_CALL_PARAMS: {
    of: given(broker, { CT_CHANNEL_CALL: "tools/call" }),
    good: `{"name":"ping"}`,
    bad: { "half of it": "{", "no JSON": "name", "more behind it": "{}x" }
  },
  CT_CHANNEL_BRIDGE_PEER: { of: broker, good: key, ignored: ["ab", "zz".repeat(32)] },
  CT_CHANNEL_BRIDGE_DISABLE_MANIFEST_INSTALL: { of: given(broker, { CT_CHANNEL_BRIDGE_PEER: key }), good: "0" },
  CT_AGENT_CARD_ROLES: { of: carding, absent: "refused", good: "a,b", bad: { "commas alone": "," } },
  CT_AGENT_CARD_SKILLS: { of: carding, good: "a|First;b" },
  CT_AGENT_CARD_CELLS: { of: carding, good: `${key},${key}`, bad: { ...noKey, "one of two": `${key},x` } },
  CT_AGENT_CARD_CHANNELS: { of: carding, good: `${key},${key}`, bad: { ...noKey, "one of two": `${key},x` } },
  CT_AGENT_CARD_TTL_SECS: { of: carding, absent: "86400", good: "1", bad: noSeconds },
  CT_AGENT_CARD_OUT: { of: carding, absent: ".", good: "/srv/www" },
  CT_AGENT_CARD_URL: {
    of: carding,
    good: "https://a.example/card.json",
    bad: { "without a scheme": "a.example", "plain HTTP": "http://a.example/" }
  },
  CT_CP_EDGE_ADMIN_TOKEN: { of: carding, good: key, bad: noKey },
  CT_AGENT_OFFER_KIND: { of: offering, absent: "refused", good: "cloud", bad: { "another word": "gpu" } },
  CT_AGENT_OFFER_MODELS: { of: offering, absent: "refused", good: "a,b", bad: { "commas alone": "," } },
  CT_AGENT_OFFER_UNITS: { of: offering, absent: "refused", good: "18446744073709551615", bad: noUnsigned },
  CT_AGENT_OFFER_MIN_PRICE: { of: offering, absent: "refused", good: "0", bad: noUnsigned },
  CT_AGENT_OFFER_CURRENCY: { of: offering, absent: "refused", good: "CHF" },
  CT_AGENT_OFFER_TTL_SECS: { of: offering, absent: "86400", good: "1", bad: noSeconds },
  CT_AGENT_OFFER_SERVICES: { of: offering, good: "text_generation" },
  CT_AGENT_OFFER_MAX_BIDS: { of: offering, absent: "60", good: "0", bad: noCount },
  CT_AGENT_OFFER_WINDOW_SECS: { of: offering, absent: "60", good: "0", bad: noCount },
  CT_AGENT_METRICS_LISTEN: { of: browser, good: "localhost:9610", bad: noSocket }
}

const without = (raw: Raw, name: string): Raw =>
  Object.fromEntries(Object.entries(raw).filter(([each]) => each !== name))

/** What a command makes of its variables, without its warnings, as text; or its problems. */
const shown = (command: Command, raw: Raw) =>
  Effect.runPromise(
    Effect.result(command.read(raw)).pipe(
      Effect.map(
        Result.mapBoth({
          // Whether a path was named stands beside it.
          onSuccess: (settings) =>
            inspect({ ...(settings as object), warnings: [] }, { depth: 9 }).replaceAll(
              /\w*(?:Named|Awaited): \w+/gu,
              ""
            ),
          onFailure: ({ problems }) => problems.map(sentence)
        })
      ),
      Effect.provide(NodeFileSystem.layer)
    )
  )

describe.concurrent("the variables of the contract", () => {
  it.each(Object.entries(rows))("%s", async (name, { absent, bad = {}, good, ignored = [], of }) => {
    const others = without(of.base, name)
    const read = (text: string) => shown(of, { ...others, [name]: text })
    const refusal = async (raw: Raw, why: string) => {
      const result = await shown(of, raw)
      const problems = Result.isFailure(result) ? result.failure : assert.fail(`accepted: ${why}`)
      assert.lengthOf(problems, 1, `${why}: ${problems.join(" ")}`)
      assert.match(problems[0] ?? "", new RegExp(`^${name} .*\\.$`, "u"), why)
      return problems[0] ?? ""
    }

    const taken = Result.getOrThrow(await read(good))
    const nothing = await shown(of, others)
    if (absent === "refused") assert.include(await refusal(others, "absent"), `${name} is not set`)
    else if (Result.isSuccess(nothing) && name !== "CT_AGENT_MODE") assert.notStrictEqual(taken, nothing.success)
    if (absent !== undefined && absent !== "refused")
      assert.strictEqual(Result.getOrThrow(await read(absent)), Result.getOrThrow(nothing), `absent means ${absent}`)
    for (const text of ignored)
      assert.strictEqual(Result.getOrThrow(await read(text)), Result.getOrThrow(nothing), `ignored: "${text}"`)
    for (const [kind, text] of Object.entries(bad)) {
      const said = await refusal({ ...others, [name]: text }, kind)
      if (text.length >= 62) assert.notInclude(said, text, `${kind}: a key is not repeated`)
    }
  })
})
