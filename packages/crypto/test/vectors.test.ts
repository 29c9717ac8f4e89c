/**
 * Every published vector, by file and name, over both suites. A vector whose kind has no runner fails, and so does a file
 * that holds more or fewer vectors than the index says.
 */
import { native } from "@catenet/crypto/native"
import { portable } from "@catenet/crypto/portable"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { admission } from "./runners/admission.ts"
import { agentCard } from "./runners/agentCard.ts"
import { capability } from "./runners/capability.ts"
import { channelIds } from "./runners/channelIds.ts"
import { convene } from "./runners/convene.ts"
import { enrollment } from "./runners/enrollment.ts"
import { grant } from "./runners/grant.ts"
import { invitation } from "./runners/invitation.ts"
import { jsonrpc } from "./runners/jsonrpc.ts"
import { keys } from "./runners/keys.ts"
import { meshWire } from "./runners/meshWire.ts"
import { noiseAttestation } from "./runners/noiseAttestation.ts"
import { noiseIk } from "./runners/noiseIk.ts"
import { offerBidMatch } from "./runners/offerBidMatch.ts"
import { overlay } from "./runners/overlay.ts"
import { preimage } from "./runners/preimage.ts"
import { receipts } from "./runners/receipts.ts"
import { records } from "./runners/records.ts"
import { releaseManifest } from "./runners/releaseManifest.ts"
import type { Runners, Vector } from "./runners/runner.ts"
import { serviceManifest } from "./runners/serviceManifest.ts"
import { topologyBinding } from "./runners/topologyBinding.ts"
import { upgradePump } from "./runners/upgradePump.ts"
import { webhooks } from "./runners/webhooks.ts"

const runners: Readonly<Record<string, Runners>> = {
  "admission.json": admission,
  "agent-card.json": agentCard,
  "capability.json": capability,
  "channel-ids.json": channelIds,
  "convene.json": convene,
  "enrollment.json": enrollment,
  "grant.json": grant,
  "invitation.json": invitation,
  "jsonrpc.json": jsonrpc,
  "keys.json": keys,
  "mesh-wire.json": meshWire,
  "noise-attestation.json": noiseAttestation,
  "noise-ik.json": noiseIk,
  "offer-bid-match.json": offerBidMatch,
  "overlay.json": overlay,
  "preimage.json": preimage,
  "receipts.json": receipts,
  "records.json": records,
  "release-manifest.json": releaseManifest,
  "service-manifest.json": serviceManifest,
  "topology-binding.json": topologyBinding,
  "upgrade-pump.json": upgradePump,
  "webhooks.json": webhooks
}

const read = (file: string): any => JSON.parse(readFileSync(new URL(`vectors/${file}`, import.meta.url), "utf8"))

const index: { readonly totals: any; readonly files: ReadonlyArray<{ file: string; count: number }> } =
  read("index.json")

describe("vectors", () => {
  let total = 0
  for (const { file, count } of index.files) {
    const vectors: ReadonlyArray<Vector> = read(file).vectors
    total += vectors.length
    describe(file, () => {
      it("holds what the index says", () => assert.strictEqual(vectors.length, count))
      for (const vector of vectors) {
        const run = runners[file]?.[vector.kind]
        it(`${vector.kind}: ${vector.id}`, () => {
          if (run === undefined) return assert.fail(`no runner for ${vector.kind} of ${file}`)
          run(vector, portable)
          run(vector, native)
        })
      }
    })
  }
  it("are 444 in 23 files", () => {
    assert.strictEqual(total, 444)
    assert.deepStrictEqual([index.totals.vectors, index.totals.files, index.files.length], [444, 23, 23])
  })
})
