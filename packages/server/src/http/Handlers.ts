/**
 * The handlers of a group of routes. A request is handled in the context in which its group was built, and what is in
 * there is copied for each request: so the services that handlers use are taken out of it once, when they are built.
 */
import { Context, Effect, Layer } from "effect"

/** Services of this package, what stands below them, built groups, and the program around: nothing that a request asks for. */
const below =
  /^(?:server\/|effect\/sql\/|@effect\/sql-pg\/|effect\/http-api\/HttpApiGroup\/|~?effect\/(?:cli|process|Stdio|Terminal|Layer|ConfigProvider))/

const without = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !below.test(key))))

/** Builds a layer where the services of this package cannot be seen. */
export const lean = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.fromBuild((memoMap, scope) => Effect.updateContext(Layer.buildWithMemoMap(layer, memoMap, scope), without<R>))

/**
 * The layer of a group, which is made where every service can be taken. Its handlers must not ask for a service of this
 * package while they run.
 */
export const layer = <A, E, R, E2, R2>(group: Effect.Effect<Layer.Layer<A, E, R>, E2, R2>) =>
  Layer.unwrap(Effect.map(group, lean))
