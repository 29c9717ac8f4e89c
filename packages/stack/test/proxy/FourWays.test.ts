/**
 * One suite, run for each of the four ways of a visitor to an origin. A case says what the origin sees and what the visitor sees, and
 * nothing in it depends on the way: edge and agent, HTTP/1.1 and HTTP/2 agree.
 */
import { layer } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { describe } from "vitest"
import * as BrokenHttp1Messages from "./fourWays/BrokenHttp1Messages.ts"
import * as BrokenMessages from "./fourWays/BrokenMessages.ts"
import * as FieldCases from "./fourWays/FieldCases.ts"
import * as ForeignOrigins from "./fourWays/ForeignOrigins.ts"
import * as GrpcCalls from "./fourWays/GrpcCalls.ts"
import * as OldDevices from "./fourWays/OldDevices.ts"
import * as OriginKinds from "./fourWays/OriginKinds.ts"
import * as WebSockets from "./fourWays/WebSockets.ts"
import * as Ways from "./Ways.ts"

const origins = Layer.mergeAll(
  BrokenMessages.Breaking.layer,
  FieldCases.Listener.layer,
  GrpcCalls.GrpcServers.layer,
  OldDevices.Device.layer,
  OriginKinds.Kinds.layer,
  WebSockets.Echo.layer
).pipe(Layer.provideMerge(ForeignOrigins.Foreign.layer))

const services = Layer.effect(
  Ways.Services,
  Effect.gen(function* () {
    const { folder, services: kinds } = yield* OriginKinds.Kinds
    const breaking = yield* BrokenMessages.Breaking
    const local = {
      breaking: breaking.port,
      hasty: breaking.hasty,
      listener: (yield* FieldCases.Listener).port,
      device: (yield* OldDevices.Device).port,
      echo: (yield* WebSockets.Echo).port
    }
    return yield* Ways.serve(
      {
        ...Object.fromEntries(Object.entries(local).map(([name, to]) => [name, { to }])),
        ...(yield* GrpcCalls.GrpcServers),
        ...(yield* ForeignOrigins.services),
        ...kinds
      },
      folder
    )
  })
)

type Needs = Layer.Success<typeof origins | typeof services> | Scope.Scope

const casesOf = (path: Ways.Path): Readonly<Record<string, Effect.Effect<void, Error, Needs>>> => ({
  ...FieldCases.cases(path),
  ...ForeignOrigins.cases(path),
  ...(path.version === "2" ? BrokenMessages : BrokenHttp1Messages).cases(path),
  ...OldDevices.cases(path),
  ...OriginKinds.cases(path),
  ...WebSockets.cases(path),
  ...GrpcCalls.cases(path)
})

layer(Layer.provideMerge(services, origins), { excludeTestServices: true, timeout: "120 seconds" })(
  "a visitor",
  (it) => {
    describe.each(Ways.paths)("$name", (path) => {
      for (const [title, run] of Object.entries(casesOf(path))) it.effect(title, () => Effect.scoped(run))
    })
  }
)
