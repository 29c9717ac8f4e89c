/** `catenet receipts verify FILE`: checks an export of signed receipts offline. Exit codes: 0 clean, 1 not, 2 usage or file. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Export from "@catenet/crypto/receipt/Export"
import type { Summary } from "@catenet/crypto/receipt/Verification"
import { Console, Data, Effect, Option, Result, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { readFileSync } from "node:fs"

/** The receipts do not hold. Exit code 1. */
class ReceiptsRefused extends Data.TaggedError("ReceiptsRefused")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override get message() {
    return `The receipts do not verify: ${this.detail}.`
  }
}

/** The file or an argument cannot be used. Exit code 2. */
class Unusable extends Data.TaggedError("Unusable")<{ readonly detail: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.detail
  }
}

const read = (path: string) =>
  Effect.try({
    try: () => readFileSync(path, "utf8"),
    catch: (cause) =>
      new Unusable({ detail: `${path} cannot be read: ${cause instanceof Error ? cause.message : cause}` })
  })

/** 32 bytes of hex given by a flag. */
const bytes = (flag: string, value: Option.Option<string>) =>
  Option.match(value, {
    onNone: () => Effect.succeed(undefined),
    onSome: (text) =>
      Effect.fromResult(Hex.decode(text.trim(), 32)).pipe(
        Effect.mapError(() => new Unusable({ detail: `${flag} takes 64 hexadecimal digits.` }))
      )
  })

const time = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString()

/** Names come from the file; a terminal is to show them and not to obey them. */
const shown = (name: string) => name.replaceAll(/\p{C}/gu, "\ufffd")

/** Nothing signs the header of a file, so the edge is named as its receipts name it. */
const report = ({ header }: Export.Export, summary: Summary): string => {
  const { bytesIn, bytesOut, closed, count, first, fromGenesis, last, opened } = summary
  if (first === undefined || last === undefined) return "The receipts verify: there are none."
  return [
    `The receipts verify: ${count} of edge ${shown(first.edgeId)}.`,
    ...(header.tunnel === undefined ? [] : [`  tunnel     ${shown(header.tunnel)}, as the file calls it`]),
    `  receipts   ${first.seq} (${time(first.ts)}) to ${last.seq} (${time(last.ts)})`,
    `  begins     ${fromGenesis ? "with the first receipt of the chain" : `behind ${first.prevHash}`}`,
    `  ends at    ${last.hash}`,
    `  sessions   ${opened} opened, ${closed} closed`,
    `  bytes      ${bytesIn} to the tunnel, ${bytesOut} from it, in closed sessions`
  ].join("\n")
}

const verify = Command.make(
  "verify",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("The export, as receipts.jsonl gives it")),
    key: Flag.String("key").pipe(
      Flag.optional,
      Flag.withMetavar("HEX"),
      Flag.withDescription("The edge's public key, 64 hex; without it the key that the file itself names is believed")
    ),
    anchor: Flag.String("anchor").pipe(
      Flag.optional,
      Flag.withMetavar("HEX"),
      Flag.withDescription("The hash of the receipt before the first one, 64 hex, for an export that starts mid-chain")
    )
  },
  Effect.fn(function* ({ anchor, file, key }) {
    const edgeKey = yield* bytes("--key", key)
    const anchorBytes = yield* bytes("--anchor", anchor)
    const anchorHash = anchorBytes && Hex.encode(anchorBytes)
    for (const part of Export.split(yield* read(file))) {
      const exported = yield* Effect.fromResult(Export.parse(part)).pipe(
        Effect.mapError((problem) => new Unusable({ detail: `${file} is no export of receipts: ${problem.message}.` }))
      )
      const verdict =
        edgeKey === undefined
          ? Export.verifyUnderOwnKey(native, exported, anchorHash)
          : Export.verify(native, exported, edgeKey, anchorHash)
      if (Result.isFailure(verdict)) return yield* new ReceiptsRefused({ detail: verdict.failure.message })
      yield* Console.log(report(exported, verdict.success))
    }
  })
).pipe(
  Command.withDescription(
    "Checks an export of signed receipts: every signature, every link of the hash chain, no gap and no fork.\n" +
      "Exit codes: 0 they hold, 1 they do not, 2 wrong usage or an unreadable file."
  ),
  Command.withShortDescription("Check an export of receipts offline"),
  Command.withExamples([
    {
      command: "catenet receipts verify receipts-1f.jsonl --key 3b6a...",
      description: "Under a key known from elsewhere"
    }
  ])
)

export const receipts = Command.make("receipts").pipe(
  Command.withDescription("Signed receipts of what a tunnel carried."),
  Command.withSubcommands([verify])
)
