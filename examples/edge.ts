/** An edge in a program of one's own; its settings come from the environment. */
import { Edge } from "@catenet/edge"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"

const started = Layer.effectDiscard(Effect.logInfo("the edge is up"))
NodeRuntime.runMain(Layer.launch(Layer.provide(started, Edge.layer)))
