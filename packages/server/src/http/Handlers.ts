/**
 * The handlers of a group of routes. A request is handled in the context in which the server was built, and what was
 * around its group is copied into that for each request: so of both only what is asked for then is kept, and the
 * services that handlers use are taken when they are built.
 */
import { Context, Effect, Layer } from "effect"

/** The middleware of routes, which a group takes when it is built. */
const middleware = /^@catenet\/domain\//

/** Services of this package, what stands below them, built groups, and the program around: nothing that a request asks for. */
const below =
  /^(?:server\/|effect\/sql\/|@effect\/sql-pg\/|effect\/http-api\/HttpApiGroup\/|effect\/http\/(?:HttpPlatform|Etag)|effect\/References\/CurrentStackFrame|~?effect\/(?:cli|process|Stdio|Terminal|Layer|ConfigProvider|FileSystem|Path|Scope))/

const within =
  (isKept: (key: string) => boolean) =>
  <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
    Layer.fromBuild((memoMap, scope) =>
      Effect.updateContext(Layer.buildWithMemoMap(layer, memoMap, scope), (context: Context.Context<R>) =>
        Context.makeUnsafe<R>(new Map([...context.mapUnsafe].filter(([key]) => isKept(key))))
      )
    )

/** Builds the layer that serves where the services of this package cannot be seen. */
export const lean = within((key) => !below.test(key) && !middleware.test(key))

/**
 * The layer of a group, which is made where every service can be taken. Its handlers must not ask for a service of this
 * package while they run.
 */
export const layer = <A, E, R, E2, R2>(group: Effect.Effect<Layer.Layer<A, E, R>, E2, R2>) =>
  Layer.unwrap(
    Effect.map(
      group,
      within((key) => middleware.test(key))
    )
  )
