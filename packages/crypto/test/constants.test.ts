/** Numbers and names that other programs rely on. */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import * as Acknowledgement from "@catenet/crypto/admission/Acknowledgement"
import * as Address from "@catenet/crypto/admission/Address"
import * as Join from "@catenet/crypto/admission/Join"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Integer from "@catenet/crypto/Integer"
import * as Permission from "@catenet/crypto/Permission"
import * as ProofOfWork from "@catenet/crypto/ProofOfWork"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import * as Asset from "@catenet/crypto/release/Asset"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import * as PaymentWebhook from "@catenet/crypto/webhook/PaymentWebhook"
import { assert, it } from "@effect/vitest"
import * as ForwardFrame from "./records/ForwardFrame.ts"
import * as Schedule from "./records/Schedule.ts"

it("the limits are those of the specification", () => {
  assert.strictEqual(Integer.maxU64, 18446744073709551615n)
  assert.strictEqual(Permission.wireLength, 139)
  assert.deepStrictEqual([ProofOfWork.defaultDifficulty, ProofOfWork.maxDifficulty], [16, 32])
  assert.deepStrictEqual([Possession.challengeLength, Join.maxBody], [32, 1024])
  assert.deepStrictEqual([Acknowledgement.maxLine, Acknowledgement.maxLateToken], [512, 25])
  assert.deepStrictEqual([Envelope.maxMessage, PaymentWebhook.window], [65535, 300n])
  assert.deepStrictEqual(ForwardFrame.limits, { target: 2048, data: 1048576, chunk: 16384 })
  assert.deepStrictEqual(ReleaseManifest.limits, {
    manifest: 262144,
    signature: 262144,
    checksumFile: 65536,
    asset: 268435456
  })
})

it("the names are those of the specification", () => {
  assert.strictEqual(AdminHeader.name, "x-ct-admin-token")
  assert.strictEqual(Address.relayOnly, "relay-only")
  assert.strictEqual(Receipt.genesisHash, "0".repeat(64))
  assert.strictEqual(Refusal.tokens.join(" "), "len-oob malformed endpoint not-member grant-verify possession pairing")
  assert.deepStrictEqual(Envelope.codes, {
    parseError: -32700,
    methodNotFound: -32601,
    invalidParams: -32602,
    toolFailed: -32000,
    internal: -32603
  })
})

it("an agent's binary is named after system and machine", () => {
  assert.strictEqual(Asset.nameFor("linux", "x64"), "ct-agent-linux-x86_64")
  assert.strictEqual(Asset.nameFor("darwin", "arm64"), "ct-agent-darwin-aarch64")
  assert.strictEqual(Asset.nameFor("win32", "ia32"), "ct-agent-windows-i686.exe")
  for (const [platform, machine] of [
    ["freebsd", "x64"],
    ["linux", "mips"],
    ["", ""]
  ] as const) {
    assert.isUndefined(Asset.nameFor(platform, machine))
  }
})

it("an attempt at a direct link waits twice as long as the one before, up to a bound", () => {
  const delays = (schedule: Schedule.Schedule) => [0, 1, 2, 4, 5, 9, 40].map((n) => Schedule.delay(schedule, n))
  assert.deepStrictEqual(delays(Schedule.coordinator), [5, 10, 20, 60, 60, 60, 60])
  assert.deepStrictEqual(delays(Schedule.agent), [1, 2, 4, 16, 32, 100, 100])
  assert.deepStrictEqual(
    [15, 16, 17, 1000].map((n) => Schedule.delay({ base: 1, max: Number.MAX_SAFE_INTEGER }, n)),
    [32768, 65536, 65536, 65536]
  )
})
