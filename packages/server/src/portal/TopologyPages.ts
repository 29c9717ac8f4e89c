/**
 * The list of topologies, and the forms of the editor. Each form returns to the editor, with a sentence if it was
 * refused.
 */
import { ChannelId } from "@catenet/domain/channels/Channel"
import {
  AgentLabel,
  CandidateLink,
  maxSuggestAgents,
  maxSuggestLinks,
  NewOperatorBinding,
  NewPlacement,
  OverlayMode,
  SuggestRequest,
  TopologyName
} from "@catenet/domain/topologies/Topology"
import { EdgeRefused, ShortcutBudgetTooLarge } from "@catenet/domain/topologies/TopologyErrors"
import { Email } from "@catenet/domain/values/Email"
import type { TopologyId } from "@catenet/domain/values/Ids"
import { HolderKey, NewHolderKey } from "@catenet/domain/values/Keys"
import { maxUint64, Uint64 } from "@catenet/domain/values/Numbers"
import { MalformedRequest } from "@catenet/domain/values/RequestErrors"
import { Effect, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Channels } from "../channels/Channels.ts"
import { Members } from "../channels/Members.ts"
import type { BrowserRefusal } from "../http/SameOrigin.ts"
import { Assignments } from "../topologies/Assignments.ts"
import { Suggestions } from "../topologies/Suggestions.ts"
import { Topologies } from "../topologies/Topologies.ts"
import { TopologyEditor } from "../topologies/TopologyEditor.ts"
import { filled, read, refusedFields, seeOther, sentBack, type Submission, type Submit, wholeNumber } from "./Forms.ts"
import { problemTexts } from "./shell/ProblemTexts.ts"
import * as Visits from "./shell/Visits.ts"
import * as TopologyDetail from "./TopologyDetail.ts"

const { idFrom } = TopologyDetail

const readEnds = read(Schema.Struct({ a: NewHolderKey, b: NewHolderKey }))
const readKnownEnds = read(Schema.Struct({ a: HolderKey, b: HolderKey }))
const readAgent = read(Schema.Struct({ agent: HolderKey }))
const readPlacement = read(NewPlacement)
const readLabel = read(Schema.Struct({ agent: HolderKey, label: AgentLabel }))
const readNote = read(Schema.Struct({ channel: Schema.NullOr(ChannelId) }))
const readMode = read(Schema.Struct({ mode: OverlayMode }))
const readName = read(Schema.Struct({ name: Schema.optionalKey(TopologyName) }))
const readEmail = read(Schema.Struct({ email: Email }))
const readBinding = read(NewOperatorBinding)
const readBudget = read(Schema.Struct({ shortcut_budget: wholeNumber }))
const isCost = (text: string) => /^\d{1,20}$/u.test(text) && BigInt(text) <= maxUint64
const readLink = read(
  Schema.Struct({ a: HolderKey, b: HolderKey, cost: Schema.String.check(Schema.makeFilter(isCost)) })
)

/** Own channels that an import looks at. */
const importedChannels = 200

const refusedForm = (field: string) =>
  new MalformedRequest({ errors: [{ path: [field], message: "Expected a value" }] })

/** Each agent has a form for its name. */
const formOf = (name: string, { form }: Submission) => (name === "label" ? `label ${form["agent"]}` : name)

/** The fields of a form on the page that were refused. A link that is typed among others is part of their field. */
const fieldsOf = (name: string, refusal: BrowserRefusal): ReadonlyArray<string> => {
  if (refusal instanceof ShortcutBudgetTooLarge) return ["shortcut_budget"]
  if (!(refusal instanceof MalformedRequest)) return []
  const fields = refusedFields(refusal)
  return name === "suggest" && !fields.includes("shortcut_budget") ? ["links"] : fields
}

const home = (id: TopologyId) => HttpServerResponse.redirect(`/me/topologies/${id}/editor`, { status: 303 })

/** Forms of the editor, which is shown again with what was refused. */
const editorForms = Effect.gen(function* () {
  const { refused } = yield* Visits.make
  const detail = yield* TopologyDetail.make
  const topologies = yield* Topologies

  /** A form of the editor. Who may not see the topology gets what there is for no topology. */
  const ofEditor =
    (name: string, run: (sent: Submission, id: TopologyId) => ReturnType<Submit>): Submit =>
    (sent) =>
      Effect.gen(function* () {
        const id = idFrom(sent.at("id"))
        yield* topologies.get(sent.caller, id)
        return yield* run(sent, id)
      }).pipe(
        Effect.catch((refusal) => {
          const { texts } = sent.self.reader
          const back = sentBack(sent, formOf(name, sent), fieldsOf(name, refusal))
          const notice =
            refusal instanceof EdgeRefused
              ? texts.edgeRefused[refusal.reason]
              : back.refused.length > 0
                ? texts.formRefused
                : problemTexts(texts, refusal)[1]
          const again = detail(sent.self, sent.caller, sent.at("id"), { notice, sent: back, status: refusal.status })
          return again.pipe(Effect.catch(() => refused(sent.self, refusal)))
        })
      )

  /** One that leads back to the editor. */
  const changing = (
    name: string,
    change: (
      sent: Submission,
      id: TopologyId
    ) => Effect.Effect<unknown, BrowserRefusal, HttpServerRequest.HttpServerRequest>
  ) => ofEditor(name, (sent, id) => Effect.as(change(sent, id), home(id)))

  return { changing, detail, ofEditor }
})

/** Adds several links; one that is there already is what was wanted. */
const connecting = Effect.map(TopologyEditor, (editor) => {
  const connectAll = (
    sent: Submission,
    id: TopologyId,
    pairs: ReadonlyArray<{ readonly a: string; readonly b: string }>
  ) =>
    Effect.forEach(pairs, (pair) =>
      readEnds(pair).pipe(
        Effect.flatMap((ends) => editor.addEdge(sent.caller, id, ends, undefined)),
        Effect.catchIf(
          (refusal) => refusal._tag === "EdgeRefused" && refusal.reason === "duplicate",
          () => Effect.void
        ),
        Effect.catchTag("IdempotencyKeyReused", Effect.die)
      )
    )

  return connectAll
})

/** Links between agents, one by one or from own channels. */
const linkForms = Effect.gen(function* () {
  const { changing } = yield* editorForms
  const editor = yield* TopologyEditor
  const channels = yield* Channels
  const members = yield* Members
  const connectAll = yield* connecting
  return {
    "/portal/topologies/:id/connect": changing("connect", (sent, id) =>
      Effect.flatMap(readEnds(sent.form), (ends) =>
        Effect.catchTag(editor.addEdge(sent.caller, id, ends, undefined), "IdempotencyKeyReused", Effect.die)
      )
    ),
    "/portal/topologies/:id/remove": changing("remove", (sent, id) =>
      Effect.flatMap(readKnownEnds(sent.form), (ends) => editor.removeEdge(sent.caller, id, ends))
    ),
    "/portal/topologies/:id/note": changing("note", (sent, id) =>
      Effect.gen(function* () {
        const ends = yield* readKnownEnds(sent.form)
        const { channel } = yield* readNote({ channel: filled(sent.form)["channel"] ?? null })
        yield* editor.note(sent.caller, id, ends, channel)
      })
    ),
    "/portal/topologies/:id/import": changing("import", (sent, id) =>
      Effect.gen(function* () {
        const own = yield* channels.list(sent.caller, { limit: importedChannels })
        for (const channel of own) {
          const found = yield* members.list(sent.caller, channel, {})
          const [a, b] = found.map(({ holder }) => holder)
          if (a === undefined || b === undefined || found.length !== 2) continue
          yield* connectAll(sent, id, [{ a, b }])
          yield* editor.note(sent.caller, id, { a, b }, channel)
        }
      })
    ),
    "/portal/topologies/:id/apply": changing("apply", (sent, id) => {
      const pairs = (sent.form["links"] ?? "").split(",").filter((pair) => pair !== "")
      return connectAll(
        sent,
        id,
        pairs.map((pair) => {
          const [a = "", b = ""] = pair.split(" ")
          return { a, b }
        })
      )
    })
  } satisfies Readonly<Record<string, Submit>>
})

/** Agents of a topology, and its mode. */
const agentForms = Effect.gen(function* () {
  const { changing } = yield* editorForms
  const editor = yield* TopologyEditor
  const assignments = yield* Assignments
  return {
    "/portal/topologies/:id/add": changing("add", (sent, id) =>
      Effect.gen(function* () {
        const kind = sent.form["super"] === undefined ? "peer" : "super-peer"
        const placement = yield* readPlacement({ agent: sent.form["agent"] ?? "", kind })
        yield* Effect.catchTag(
          assignments.assign(sent.caller, id, placement, undefined),
          "IdempotencyKeyReused",
          Effect.die
        )
      })
    ),
    "/portal/topologies/:id/unassign": changing("unassign", (sent, id) =>
      Effect.flatMap(readAgent(sent.form), ({ agent }) => assignments.unassign(sent.caller, id, agent))
    ),
    "/portal/topologies/:id/label": changing("label", (sent, id) =>
      Effect.flatMap(readLabel(sent.form), ({ agent, label }) => assignments.label(sent.caller, id, agent, label))
    ),
    "/portal/topologies/:id/mode": changing("mode", (sent, id) =>
      Effect.flatMap(readMode(sent.form), ({ mode }) => editor.setMode(sent.caller, id, mode))
    )
  } satisfies Readonly<Record<string, Submit>>
})

/** Suggests links for costs that are typed. */
const suggestForm = Effect.gen(function* () {
  const { detail, ofEditor } = yield* editorForms
  const topologies = yield* Topologies
  const suggestions = yield* Suggestions
  return {
    "/portal/topologies/:id/suggest": ofEditor("suggest", (sent, id) =>
      Effect.gen(function* () {
        const { shortcut_budget } = yield* readBudget(sent.form)
        if (shortcut_budget < 0) return yield* refusedForm("shortcut_budget")
        const { agents } = yield* topologies.get(sent.caller, id)
        const typed = (sent.form["links"] ?? "").split(/\r?\n/u).filter((line) => line.trim() !== "")
        if (typed.length > maxSuggestLinks) return yield* refusedForm("links")
        // Without costs every pair costs the same. Of more agents than a suggestion is for, no pair is looked at.
        const pairs =
          typed.length > 0
            ? typed.map((line) => line.trim().split(/[\s,]+/u))
            : agents.length > maxSuggestAgents
              ? []
              : agents.flatMap(([a], index) => agents.slice(index + 1).map(([b]) => [a, b, "1"]))
        const links = yield* Effect.forEach(pairs, ([a, b, cost = "1"]) =>
          Effect.map(
            readLink({ a, b, cost }),
            (link) => new CandidateLink({ ...link, cost: Uint64.make(BigInt(link.cost)) })
          )
        )
        const suggestion = yield* suggestions.suggest(sent.caller, id, new SuggestRequest({ links, shortcut_budget }))
        return yield* detail(sent.self, sent.caller, id, { suggestion })
      })
    )
  } satisfies Readonly<Record<string, Submit>>
})

/** Makes, names, shares, binds and deletes a topology. */
const topologyForms = Effect.gen(function* () {
  const list = yield* TopologyDetail.listing
  const { changing, ofEditor } = yield* editorForms
  const topologies = yield* Topologies
  const editor = yield* TopologyEditor
  return {
    "/portal/topologies": (sent) =>
      Effect.gen(function* () {
        const { name } = yield* readName(filled({ name: sent.form["name"] ?? "" }))
        const { id } = yield* Effect.catchTag(
          topologies.create(sent.caller, undefined),
          "IdempotencyKeyReused",
          Effect.die
        )
        if (name !== undefined) yield* topologies.rename(sent.caller, id, name)
        return home(id)
      }).pipe(
        Effect.catchTag("MalformedRequest", (refusal) =>
          list(sent.self, sent.caller, sentBack(sent, "topology", refusedFields(refusal)))
        )
      ),
    "/portal/topologies/:id/name": changing("name", (sent, id) =>
      Effect.flatMap(readName(filled({ name: sent.form["name"] ?? "" })), ({ name }) =>
        topologies.rename(sent.caller, id, name ?? null)
      )
    ),
    "/portal/topologies/:id/share": changing("share", (sent, id) =>
      Effect.flatMap(readEmail({ email: (sent.form["email"] ?? "").trim() }), ({ email }) =>
        topologies.share(sent.caller, id, email)
      )
    ),
    "/portal/topologies/:id/unshare": changing("unshare", (sent, id) =>
      Effect.flatMap(readEmail(sent.form), ({ email }) => topologies.unshare(sent.caller, id, email))
    ),
    "/portal/topologies/:id/bind": changing("bind", (sent, id) =>
      Effect.flatMap(readBinding(sent.form), (binding) => editor.bind(sent.caller, id, binding))
    ),
    "/portal/topologies/:id/unbind": changing("unbind", (sent, id) => editor.unbind(sent.caller, id)),
    "/portal/topologies/:id/delete": ofEditor("topology", (sent, id) =>
      sent.form["confirm"] === undefined
        ? Effect.fail(refusedForm("confirm"))
        : Effect.as(topologies.remove(sent.caller, id), seeOther("/portal/topologies"))
    )
  } satisfies Readonly<Record<string, Submit>>
})

export const make = Effect.gen(function* () {
  const list = yield* TopologyDetail.listing
  const forms = { ...(yield* topologyForms), ...(yield* linkForms), ...(yield* agentForms), ...(yield* suggestForm) }
  const page: Visits.MemberPage = (self) => list(self, self.caller)
  return { pages: { "/portal/topologies": page }, forms }
})
