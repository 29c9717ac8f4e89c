/** Which providers a pipeline chose before, for RoundRobin and LeastCalls; stored in `<state dir>/pipelines`. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { noTurns, type Turns } from "@catenet/domain/agents/PipelineMatching"
import { Effect, Option, Schema } from "effect"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

const Stored = Schema.fromJsonString(
  Schema.Struct({
    last: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
    served: Schema.Array(Schema.Tuple([Schema.String, Schema.Int]))
  })
)
const decode = Schema.decodeUnknownOption(Stored)
const encode = Schema.encodeSync(Stored)

/** Limit of stored holders; the one first chosen longest ago is dropped. */
const maxRemembered = 4096

const read = Effect.fnUntraced(function* (path: string) {
  const bytes = yield* PrivateFile.read(path)
  if (bytes === undefined) return noTurns
  const stored = decode(new TextDecoder().decode(bytes))
  if (Option.isNone(stored)) {
    yield* Effect.logWarning(`${path} cannot be read; the history of the pipeline's providers starts anew.`)
    return noTurns
  }
  return { last: new Map(stored.value.last), served: new Map(stored.value.served) } satisfies Turns
})

const write = (path: string, { last, served }: Turns) => {
  const text = encode({ last: [...last], served: [...served].slice(-maxRemembered) })
  return PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(text) }])
}

/** Calls `run` with the stored history and stores what it returns. Runs of the same pipeline (id and operator) are serialized. */
export const using = <A, E, R>(
  stateDir: string,
  { id, operator }: { readonly id: string; readonly operator: Uint8Array },
  run: (turns: Turns) => Effect.Effect<{ readonly turns: Turns; readonly answer: A }, E, R>
) => {
  const name = Hex.encode(native.sha256(new TextEncoder().encode(`${Hex.encode(operator)} ${id}`))).slice(0, 32)
  const path = `${stateDir}/pipelines/${name}.json`
  return FolderLock.holding(path)(
    Effect.gen(function* () {
      const { answer, turns } = yield* run(yield* read(path))
      yield* write(path, turns)
      return answer
    })
  )
}
