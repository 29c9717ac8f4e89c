/** The public directory of agents, as an operator registered them. A listed agent may have stopped answering. */
import { DirectoryEntry, type DirectoryRegistration } from "@catenet/domain/agents/Directory"
import { AgentNotListed } from "@catenet/domain/agents/PipelineErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { HolderKey } from "@catenet/domain/values/Keys"
import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { paged, type Page } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Store from "./DirectoryStore.ts"

/** A search: for entries that have both tokens, each matched as a whole. */
interface Search extends Page {
  readonly role?: string
  readonly skill?: string
}

export class Directory extends Context.Service<
  Directory,
  {
    /** Registers an agent, in place of an earlier registration of its key. */
    readonly register: (registration: DirectoryRegistration) => Effect.Effect<void>
    /** Lists entries, sorted by holder key. */
    readonly search: (
      query: Search
    ) => Effect.Effect<ReadonlyArray<DirectoryEntry>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (holder: HolderKey) => Effect.Effect<DirectoryEntry, AgentNotListed>
  }
>()("server/agents/Directory") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const audits = yield* Audits
    const entry = ({ cardUrl, holderPubkey, registeredAt, roleTags, skillIds }: Store.Entry) =>
      new DirectoryEntry({
        holder_pubkey: holderPubkey,
        card_url: cardUrl,
        role_tags: roleTags,
        skill_ids: skillIds,
        registered_at: registeredAt
      })

    return {
      register: Effect.fn("Directory.register")(
        function* (registration: DirectoryRegistration) {
          const { card_url, holder_pubkey, role_tags, skill_ids } = registration
          yield* store.put({
            holderPubkey: holder_pubkey,
            cardUrl: card_url,
            roleTags: role_tags,
            skillIds: skill_ids,
            registeredAt: yield* unixSeconds
          })
          yield* audits.append(audit("directory_agent_registered", "operator", holder_pubkey, card_url))
        },
        store.transaction,
        sqlOrDie
      ),

      search: Effect.fn("Directory.search")(function* ({ role, skill, ...page }: Search) {
        const found = yield* paged(
          page,
          HolderKey,
          (slice) => store.search({ role, skill, ...slice }),
          ({ holderPubkey }) => holderPubkey
        )
        return found.map(entry)
      }, Effect.orDie),

      get: Effect.fn("Directory.get")(function* (holder: HolderKey) {
        const found = yield* store.find(holder)
        return yield* Option.isSome(found) ? Effect.succeed(entry(found.value)) : new AgentNotListed()
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Directory, Directory.make)
  static readonly layer = Directory.layerNoDeps.pipe(Layer.provide([Audits.layer]))
}
