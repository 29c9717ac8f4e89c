/** `catenet receipts verify FILE`: checks an export of signed receipts offline. Exit codes: 0 clean, 1 not, 2 usage or file. */
import { native } from "@catenet/crypto/native"
import * as FileCheck from "@catenet/crypto/receipt/FileCheck"
import { Files } from "@catenet/platform/Files"
import { Console, Data, Effect, Option, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"

/** The receipts do not hold. Exit code 1. */
class ReceiptsRefused extends Data.TaggedError("ReceiptsRefused")<{ readonly sentence: string }> {
  override readonly [Runtime.errorExitCode] = 1
  override get message() {
    return this.sentence
  }
}

/** The file or an argument cannot be used. Exit code 2. */
class Unusable extends Data.TaggedError("Unusable")<{ readonly sentence: string }> {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.sentence
  }
}

const verdictOf = (file: string, key: Option.Option<string>, anchor: Option.Option<string>): FileCheck.FileVerdict => {
  try {
    return (
      FileCheck.oversized(file, Files.statSync(file).size) ??
      FileCheck.check(native, {
        name: file,
        bytes: Files.readFileSync(file),
        key: Option.getOrUndefined(key),
        anchor: Option.getOrUndefined(anchor)
      })
    )
  } catch (cause) {
    return FileCheck.unreadable(file, cause)
  }
}

const verify = Command.make(
  "verify",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("Exported file, receipts.jsonl")),
    key: Flag.String("key").pipe(
      Flag.optional,
      Flag.withMetavar("HEX"),
      Flag.withDescription("The edge's public key, 64 hex digits; if omitted, the key named in the file is trusted")
    ),
    anchor: Flag.String("anchor").pipe(
      Flag.optional,
      Flag.withMetavar("HEX"),
      Flag.withDescription(
        "Hash of the receipt before the first one, 64 hex digits, for an export that starts in the middle of a chain"
      )
    )
  },
  Effect.fn(function* ({ anchor, file, key }) {
    const { outcome, lines: said } = verdictOf(file, key, anchor)
    const reports = outcome === "verified" ? said : said.slice(0, -1)
    yield* Effect.forEach(reports, (report) => Console.log(report), { discard: true })
    const sentence = said.at(-1) ?? ""
    if (outcome === "refused") return yield* new ReceiptsRefused({ sentence })
    if (outcome === "unusable") return yield* new Unusable({ sentence })
  })
).pipe(
  Command.withDescription(
    "Verifies an export of signed receipts: every signature and every link of the hash chain, without gaps and forks.\n" +
      "Exit codes: 0 valid, 1 invalid, 2 wrong usage or unreadable file."
  ),
  Command.withShortDescription("Verify an export of receipts offline"),
  Command.withExamples([
    {
      command: "catenet receipts verify receipts-1f.jsonl --key 3b6a...",
      description: "With a key from another source"
    }
  ])
)

export const receipts = Command.make("receipts").pipe(
  Command.withDescription("Verifies signed receipts of the traffic of a tunnel."),
  Command.withSubcommands([verify])
)
