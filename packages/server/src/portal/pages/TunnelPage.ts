/**
 * `/portal/tunnels/:id`: one tunnel, a tab for each kind of question. A grantee sees what it is and how to connect an
 * agent, no more.
 */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { UptimeReport } from "@catenet/domain/tunnels/Usage"
import { isWildcard } from "@catenet/domain/values/Hostname"
import { type Markup, markup } from "@catenet/platform/Markup"
import { mode, state } from "../shell/AgentState.ts"
import { section, type Sent, switchForm, tabs } from "../shell/Field.ts"
import { icon } from "../shell/Icons.ts"
import type { Page } from "../shell/Shell.ts"
import type { Texts } from "../texts/English.ts"
import * as ConnectPage from "./ConnectPage.ts"
import * as AccessPanel from "./tunnel/AccessPanel.ts"
import * as CertificatePanel from "./tunnel/CertificatePanel.ts"
import type { Controls } from "./tunnel/Controls.ts"
import * as LoginPanel from "./tunnel/LoginPanel.ts"
import * as OverviewTab from "./tunnel/OverviewTab.ts"
import * as SettingsTab from "./tunnel/SettingsTab.ts"
import * as SharePanel from "./tunnel/SharePanel.ts"

export type Tab = "overview" | "access" | "agents" | "certificate" | "settings"

/** The tab on which a form stands that was refused. */
const tabOfForm: ReadonlyMap<string, Tab> = new Map([
  ["visitor", "access"],
  ["share", "access"],
  ["access", "access"],
  ["rename", "settings"],
  ["hostname", "settings"],
  ["alert", "settings"],
  ["bridge", "settings"]
])

export const tabOf = (query: string | null, sent: Sent | undefined): Tab => {
  const ofForm = tabOfForm.get(sent?.form ?? "")
  if (ofForm !== undefined) return ofForm
  return query === "access" || query === "agents" || query === "certificate" || query === "settings"
    ? query
    : "overview"
}

export interface Facts {
  readonly tunnel: Tunnel
  readonly address: string | undefined
  readonly sent: Sent | undefined
  readonly tab: Tab
  /** What only the owner sees. */
  readonly controls?: Controls
  /** Where the overview is shown. */
  readonly report?: UptimeReport | undefined
}

/** The head and the tabs of the pages of a tunnel; the page of its traffic has them too. */
export const head = (
  texts: Texts,
  { address, controls, tunnel }: Pick<Facts, "address" | "tunnel"> & { readonly controls?: Pick<Controls, "reach"> },
  here: string
): Markup => {
  const { hostname, id, name } = tunnel
  const own = `/portal/tunnels/${id}`
  return markup`<div class="head"><div><h1>${hostname ?? name}</h1>
      <p class="row">${controls === undefined ? markup`<span>${texts.shared}</span>` : state(texts, controls.reach, id)}${mode(texts, tunnel)}${
        hostname === null ? undefined : markup`<span class="soft">${name}</span>`
      }</p></div>${
        address === undefined || tunnel.kind !== "http" || isWildcard(hostname ?? "")
          ? undefined
          : markup`<div class="row"><a class="button" href="${address}">${icon("out")}${texts.visit}</a>${
              controls === undefined
                ? undefined
                : markup`<a class="button" href="${own}?tab=access#share">${icon("link")}${texts.share}</a>`
            }</div>`
      }</div>${
        controls === undefined
          ? undefined
          : tabs(texts.tunnelTabs, here, [
              [own, texts.tabs.overview],
              [`${own}?tab=access`, texts.tabs.access],
              [`${own}/uptime`, texts.tabs.traffic],
              [`${own}?tab=agents`, texts.tabs.agents],
              [`${own}?tab=certificate`, texts.tabs.certificate],
              [`${own}?tab=settings`, texts.tabs.settings]
            ])
      }`
}

const agents = (texts: Texts, { agent_proof, id }: Tunnel) =>
  markup`${ConnectPage.form(texts, id)}<section class="panel"><h2 class="hidden">${texts.agentProofTitle}</h2>${switchForm(
    {
      action: `/portal/tunnels/${id}/unproved-agents`,
      label: texts.agentProofAllow,
      hint: texts.agentProofHint,
      isOn: agent_proof === "lifted",
      save: texts.save
    }
  )}<div class="setting"><div><b>${texts.grantsLead}</b><p>${texts.grantsText}</p></div><a class="button" href="/portal/tunnels/${id}/grants">${texts.grantsTitle}</a></div></section>`

const body = (texts: Texts, { address, report, sent, tab, tunnel }: Facts, controls: Controls): Markup => {
  switch (tab) {
    case "overview":
      return markup`${
        // What has no agent yet is to be connected first.
        controls.reach === undefined || (controls.reach.since === null && controls.reach.state.endsWith("_silent"))
          ? ConnectPage.form(texts, tunnel.id)
          : undefined
      }${
        controls.requests.length === 0
          ? undefined
          : markup`<p class="callout warn">${icon("person")}<a href="/portal/tunnels/${tunnel.id}?tab=access">${texts.requestsWaiting(controls.requests.length)}</a></p>`
      }${OverviewTab.render(texts, tunnel, { address, controls, report })}`
    case "access":
      return markup`${LoginPanel.asking(texts, tunnel, controls)}<div class="cols"><div class="stack-wide">${LoginPanel.render(texts, tunnel, controls, sent)}${SharePanel.render(
        texts,
        tunnel,
        controls,
        sent
      )}</div><div class="stack-wide">${section(texts.window, AccessPanel.render(texts, tunnel, controls, sent))}</div></div>`
    case "agents":
      return agents(texts, tunnel)
    case "certificate":
      return CertificatePanel.tab(texts, tunnel, controls)
    case "settings":
      return SettingsTab.render(texts, tunnel, controls, sent)
  }
}

export const page = (texts: Texts, facts: Facts): Page => {
  const { controls, tab, tunnel } = facts
  const { hostname, id, name } = tunnel
  const own = `/portal/tunnels/${id}`
  return {
    title: hostname ?? name,
    area: "tunnels",
    crumbs: [["/portal/tunnels", texts.tunnels]],
    here: name,
    main: markup`${head(texts, facts, tab === "overview" ? own : `${own}?tab=${tab}`)}${
      controls === undefined
        ? markup`<div class="cols"><div>${ConnectPage.form(texts, id)}</div><div>${CertificatePanel.render(texts, tunnel, undefined)}</div></div>`
        : body(texts, facts, controls)
    }`
  }
}
