/** `/portal/search`: own tunnels, channels, topologies and pages by name; the script shows its list while somebody types. */
import { type Markup, markup } from "@catenet/platform/Markup"
import { Effect } from "effect"
import { Channels } from "../channels/Channels.ts"
import { TopologySummaries } from "../topologies/TopologySummaries.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { nameOf as channelName } from "./pages/ChannelsPage.ts"
import { nameOf as topologyName } from "./pages/topology/TopologiesPage.ts"
import { type Icon, icon } from "./shell/Icons.ts"
import type { Page } from "./shell/Shell.ts"
import * as Visits from "./shell/Visits.ts"
import type { Texts } from "./texts/English.ts"

/** Longer than a host name is nothing that could be found. */
const longestSearch = 253
/** Entries of each kind; a longer word finds fewer. */
const shownOfKind = 8

interface Found {
  readonly href: string
  readonly name: string
  readonly sign: Icon
  readonly kind: string
}

const pagesOf = (texts: Texts): ReadonlyArray<Found> =>
  (
    [
      ["/portal/home", texts.home, "home"],
      ["/portal/tunnels", texts.tunnels, "tunnels"],
      ["/portal/channels", texts.channels, "channels"],
      ["/portal/channels?new=channel", texts.newChannel, "plus"],
      ["/portal/topologies", texts.topologies, "topologies"],
      ["/portal/fleet", texts.fleet, "activity"],
      ["/portal/fleet?tab=events", texts.events, "activity"],
      ["/portal/notices", texts.notices, "bell"],
      ["/portal/usage", texts.usage, "activity"],
      ["/portal/agent-bridges", texts.bridgesTitle, "link"],
      ["/portal/account", texts.account, "person"],
      ["/docs", texts.apiDocs, "terminal"]
    ] as const
  ).map(([href, name, sign]) => ({ href, name, sign, kind: texts.pageKind }))

const list = (texts: Texts, found: ReadonlyArray<Found>): Markup =>
  found.length === 0
    ? markup`<p class="pad soft">${texts.nothingFoundAtAll}</p>`
    : markup`<ul class="items">${found.map(
        ({ href, kind, name, sign }) =>
          markup`<li>${icon(sign)}<a class="name" href="${href}">${name}</a><span class="soft small">${kind}</span></li>`
      )}</ul>`

const page = (texts: Texts, q: string, found: ReadonlyArray<Found>): Page => ({
  title: texts.searchAll,
  main: markup`<div class="head"><div><h1>${q === "" ? texts.searchAll : texts.foundFor(q)}</h1></div></div>
    <form class="search" role="search" method="get" action="/portal/search?" aria-label="${texts.find}">${icon("search")}<label for="q" class="hidden">${texts.searchAll}</label><input id="q" name="q" type="search" value="${q}"><button class="hidden">${texts.find}</button></form>
    <section class="panel narrow-page" id="found" aria-label="${texts.searchAll}">${list(texts, found)}</section>`
})

export const make = Effect.gen(function* () {
  const { show } = yield* Visits.make
  const tunnels = yield* Tunnels
  const channels = yield* Channels
  const topologies = yield* TopologySummaries
  return {
    "/portal/search": (self) =>
      Effect.gen(function* () {
        const { texts } = self.reader
        const query = new URL(self.request.url, "http://localhost").searchParams
        const q = (query.get("q") ?? "").replaceAll("\0", "").trim().slice(0, longestSearch)
        const fits = (text: string) => text.toLowerCase().includes(q.toLowerCase())
        const facts = yield* Effect.all(
          {
            tunnels: tunnels.list(self.caller, { limit: shownOfKind }, q),
            channels: channels.summaries(self.caller),
            topologies: topologies.list(self.caller)
          },
          { concurrency: "unbounded" }
        )
        const found: ReadonlyArray<Found> = [
          ...facts.tunnels.map(({ hostname, id, name }) => ({
            href: `/portal/tunnels/${id}`,
            name: hostname ?? name,
            sign: "tunnels" as const,
            kind: texts.tunnel
          })),
          ...facts.channels
            .filter((each) => fits(channelName(each)) || fits(each.channel))
            .slice(0, shownOfKind)
            .map((each) => ({
              href: `/portal/channels/${each.channel}`,
              name: channelName(each),
              sign: "channels" as const,
              kind: texts.channel
            })),
          ...facts.topologies
            .filter((each) => fits(topologyName(each)) || fits(each.id))
            .slice(0, shownOfKind)
            .map((each) => ({
              href: `/me/topologies/${each.id}/editor`,
              name: topologyName(each),
              sign: "topologies" as const,
              kind: texts.topology
            })),
          ...pagesOf(texts).filter(({ name }) => fits(name))
        ]
        return show(self, page(texts, q, found))
      })
  } satisfies Readonly<Record<string, Visits.MemberPage>>
})
