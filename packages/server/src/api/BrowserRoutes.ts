/** Descriptions of the addresses that browsers visit beside the API: a sentence, and the fields of each form. */
import type * as Addresses from "../portal/Addresses.ts"

/** A sentence, and the names of the fields or of the parameters in the query. */
export type BrowserRoute = readonly [says: string, ...fields: ReadonlyArray<string>]

type Others =
  | "GET /portal"
  | "GET /portal/login"
  | "GET /portal/callback"
  | "GET /portal/logout"
  | "POST /portal/logout"
  | "POST /portal/language"
  | "GET /portal/events"
  | "GET /portal/fleet/events.csv"
  | "GET /net/:net_uuid"
  | "GET /net/:net_uuid/events"
  | "GET /me/topologies/:id/editor"
  | "GET /portal/tunnels/:id/login-allowlist"
  | "GET /portal/unsubscribe"
  | "POST /portal/unsubscribe"
  | `GET /gate/${"check" | "share" | "start" | "callback" | "logout" | "request-access"}`
  | `POST /gate/${"share" | "request-access"}`

const material = ["holder", "noise_pubkey", "noise_attestation"] as const

export const browserRoutes: Readonly<
  Record<`GET ${Addresses.PagePath}` | `POST ${Addresses.FormPath}` | Others, BrowserRoute>
> = {
  "GET /portal": ["Leads to the sign-in, and with a session to the page that `next` names.", "next"],
  "GET /portal/login": ["Begins a sign-in at the identity provider.", "kc_idp_hint", "login_hint", "register", "next"],
  "GET /portal/callback": [
    "The provider leads back here; it ends in a session or in a page that says why not.",
    "code",
    "state"
  ],
  "GET /portal/logout": ["Asks whether to sign out. It ends nothing."],
  "POST /portal/logout": ["Ends the session, here and at the identity provider."],
  "POST /portal/language": ["Keeps the language of the reader for a year.", "language", "back"],
  "GET /portal/events": [
    "A stream of events: the states of tunnels, or the changes of one topology, while a page is open.",
    "tunnels",
    "topology",
    "seen",
    "certificate"
  ],
  "GET /net/:net_uuid": ["The public page of a topology. It needs no sign-in."],
  "GET /net/:net_uuid/events": ["A stream that says when the public page changed.", "seen"],
  "GET /me/topologies/:id/editor": ["The editor of a topology, for its owner and whom it is shared with."],
  "GET /portal/tunnels/:id/login-allowlist": ["The addresses that may visit, as JSON."],
  "GET /portal/unsubscribe": ["Asks whether to switch mail off. It switches nothing.", "token"],
  "POST /portal/unsubscribe": ["Switches mail off, once, by the token of a mail (RFC 8058).", "token"],
  "GET /gate/check": ["Asked by a proxy before each request: 200 with x-gate-email, or 302 to the sign-in.", "host"],
  "GET /gate/share": ["Opens a share link; one of a single use asks first.", "host", "token", "return"],
  "POST /gate/share": ["Spends a share link of a single use.", "host", "token", "return"],
  "GET /gate/start": ["Begins the sign-in of a visitor of a gated host.", "host", "return", "browser"],
  "GET /gate/callback": ["The provider leads back here, and the visitor on to the host.", "code", "state"],
  "GET /gate/logout": ["Ends what a visitor's sign-in gave.", "host", "return"],
  "GET /gate/request-access": ["The form in which a visitor asks to be let in.", "host"],
  "POST /gate/request-access": ["Leaves one request with the owner.", "host", "email", "note"],

  "GET /portal/home": ["The same as /portal/tunnels."],
  "GET /portal/tunnels": ["Own and shared tunnels, 50 on a page.", "cursor"],
  "GET /portal/tunnels/:id": ["Everything of one tunnel."],
  "GET /portal/tunnels/:id/delete": ["Asks whether to delete the tunnel."],
  "GET /portal/tunnels/:id/grants": ["The accounts that a tunnel is shared with."],
  "GET /portal/tunnels/:id/install": ["The button that makes a line for an agent. Looking makes no token."],
  "GET /portal/tunnels/:id/rotate-token": ["Asks whether to make a new routing token."],
  "GET /portal/tunnels/:id/uptime": ["Uptime, sessions and sums of thirty days, and the badge."],
  "GET /portal/search": ["Own tunnels, channels, topologies and pages by name.", "q"],
  "GET /portal/channels": [
    "Channels of one's own and those one is invited to; `new` opens a form.",
    "notice",
    "new",
    "q",
    "role",
    "page"
  ],
  "GET /portal/channels/:channel": ["One own channel with its members, grants, addresses and invites.", "tab"],
  "GET /portal/channels/:channel/claim": ["The form that takes a membership up."],
  "GET /portal/channels/:channel/grants": ["The grants that wait for claimed memberships."],
  "GET /portal/claim": ["What a claim invite offers. Looking claims nothing.", "invite"],
  "GET /portal/agent-bridges": ["The bridge's keys, and for each tunnel a grant and a call."],
  "GET /portal/topologies": ["Own and shared topologies."],
  "GET /portal/fleet": [
    "Every own tunnel in one row. No agent is asked. With `tab=events` the events of the account.",
    "tab",
    "kind",
    "q",
    "before"
  ],
  "GET /portal/fleet/events.csv": ["The events of an account as CSV.", "kind", "q", "before"],
  "GET /portal/usage": ["What each tunnel carried in thirty days, with the sums."],
  "GET /portal/notices": ["What an account should know now."],
  "GET /portal/account": ["Balance, sessions, service accounts, payments, own audit log.", "tab"],

  "POST /portal/tunnels": ["Makes a tunnel.", "name", "kind"],
  "POST /portal/tunnels/bulk": [
    "Requires a login at the chosen tunnels, or none, or deletes them.",
    "action",
    "confirm"
  ],
  "POST /portal/tunnels/:id/rename": ["Renames it.", "name"],
  "POST /portal/tunnels/:id/delete": ["Deletes it; its token never works again."],
  "POST /portal/tunnels/:id/install": ["Shows a line for an agent, with a token that works once.", "port"],
  "POST /portal/tunnels/:id/require-login": ["Switches the login of visitors on or off.", "enabled"],
  "POST /portal/tunnels/:id/allow-any-login": ["Lets every signed-in account visit, or only the list.", "enabled"],
  "POST /portal/tunnels/:id/unproved-agents": ["Lets agents without an enrolled key serve it, or not.", "enabled"],
  "POST /portal/tunnels/:id/options/:option": ["Switches an option of the tunnel on or off.", "enabled"],
  "POST /portal/tunnels/:id/login-allowlist": ["Lets an address visit.", "email"],
  "POST /portal/tunnels/:id/login-allowlist/:email/remove": ["Takes an address off the list."],
  "POST /portal/tunnels/:id/access-requests/:email/dismiss": ["Dismisses a request for access."],
  "POST /portal/tunnels/:id/grants": ["Shares the tunnel with an account.", "grantee"],
  "POST /portal/tunnels/:id/grants/:grantee/delete": ["Shares it no more."],
  "POST /portal/tunnels/:id/reclaim-cert-slot": ["Queues again for a certificate after a lapsed place."],
  "POST /portal/tunnels/:id/cert-claim-opt-out": ["Wants no certificate of its own, or wants one.", "enabled"],
  "POST /portal/tunnels/:id/hostname": ["Asks for a host name of its owner's own, or another of the zone.", "hostname"],
  "POST /portal/tunnels/:id/hostname/remove": ["Gives up the host name of its owner's own."],
  "POST /portal/tunnels/:id/verify-hostname": ["Looks for the proof of its host name in DNS now."],
  "POST /portal/tunnels/:id/rotate-token": ["Makes a new routing token; agents with the old one are cut off."],
  "POST /portal/tunnels/:id/badge/enable": ["Switches the public badge on."],
  "POST /portal/tunnels/:id/badge/disable": ["Switches it off; its address never comes back."],
  "POST /portal/tunnels/:id/alert": [
    "Sets the alert; a fresh one shows its secret once.",
    "webhook_url",
    "threshold_minutes"
  ],
  "POST /portal/tunnels/:id/alert/test": ["Sends one test message."],
  "POST /portal/tunnels/:id/alert/delete": ["Deletes the alert."],
  "POST /portal/tunnels/:id/access": [
    "Sets when the tunnel is open; `rearm` opens it for 24 hours and reads nothing else.",
    "rearm",
    "expiry_mode",
    "expires_at",
    "expires_in_hours",
    "schedule",
    ...[0, 1, 2, 3, 4, 5, 6].map((day) => `day${day}`),
    "start",
    "end",
    "tz_offset",
    "time_zone"
  ],
  "POST /portal/tunnels/:id/access/clear": ["Opens it without restriction."],
  "POST /portal/tunnels/:id/share-links": ["Makes a share link and shows it once.", "ttl", "single_use", "label"],
  "POST /portal/tunnels/:id/share-links/:link_id/revoke": ["Ends a share link and its sessions."],
  "POST /portal/tunnels/:id/agent-bridge": ["Sets the mode of the agent bridge.", "mode"],
  "POST /portal/tunnels/:id/agent-bridge/grant": ["Gives the bridge a grant.", "channel_id", "grant_hex"],
  "POST /portal/tunnels/:id/agent-bridge/call": [
    "Calls a tool of the agent and shows its answer.",
    "tool",
    "arguments"
  ],
  "POST /portal/tunnels/:id/agent-bridge/manifest/install": [
    "Has the agent install a service.",
    "manifest_location",
    "project_name"
  ],
  "POST /portal/account/credits": ["Asks for credits; they count when the payment is confirmed.", "credits"],
  "POST /portal/account/notice-mail": ["Switches mail of notices on or off.", "enabled"],
  "POST /portal/account/delete": ["Deletes the account when DELETE is typed.", "confirm"],
  "POST /portal/account/applications/end": ["Ends the sign-ins of an application.", "application"],
  "POST /portal/account/sessions/end-others": ["Ends every session but this one."],
  "POST /portal/account/sessions/:id/end": ["Ends one session."],
  "POST /portal/account/service-accounts": ["Makes a service account and shows its secret once.", "name"],
  "POST /portal/account/service-accounts/:client_id/rotate": ["Makes a new secret and shows it once."],
  "POST /portal/account/service-accounts/:client_id/delete": ["Deletes a service account."],
  "POST /portal/channels": ["Registers a channel.", "operator_pubkey", "channel", "label"],
  "POST /portal/rooms": ["Opens a channel for each pair of 2 to 12 holders.", "operator_pubkey", "holders"],
  "POST /portal/channels/:channel/label": ["Says what its owner calls it.", "label"],
  "POST /portal/channels/:channel/rekey": [
    "Changes the operator's key; all grants end.",
    "operator_pubkey",
    "confirm_rekey"
  ],
  "POST /portal/channels/:channel/deregister": ["Removes the channel with all that hangs on it.", "confirm"],
  "POST /portal/channels/:channel/members": ["Adds or replaces a member.", ...material],
  "POST /portal/channels/:channel/members/:holder/remove": ["Removes a member."],
  "POST /portal/channels/:channel/allowlist": ["Invites an address to become a member.", "email"],
  "POST /portal/channels/:channel/allowlist/:email/remove": ["Invites it no more."],
  "POST /portal/channels/:channel/grants": ["Leaves a grant for a member.", "holder", "grant"],
  "POST /portal/channels/:channel/claim-invites": ["Makes a claim invite and shows it once.", ...material, "label"],
  "POST /portal/channels/:channel/join-links": [
    "Keeps what the script of the page has sealed for an invite link, and answers with its token.",
    "secret"
  ],
  "POST /portal/topologies": ["Makes a topology.", "name"],
  "POST /portal/topologies/:id/name": ["Says what its owner calls it.", "name"],
  "POST /portal/topologies/:id/connect": ["Connects two agents.", "a", "b"],
  "POST /portal/topologies/:id/remove": ["Removes a link.", "a", "b"],
  "POST /portal/topologies/:id/note": ["Notes a channel at a link, or clears the note.", "a", "b", "channel"],
  "POST /portal/topologies/:id/import": ["Takes own channels of two members for links."],
  "POST /portal/topologies/:id/add": ["Adds an agent.", "agent", "super"],
  "POST /portal/topologies/:id/unassign": ["Takes an agent out.", "agent"],
  "POST /portal/topologies/:id/label": ["Names an agent.", "agent", "label"],
  "POST /portal/topologies/:id/mode": ["Sets the overlay mode.", "mode"],
  "POST /portal/topologies/:id/suggest": ["Suggests links and shows them; it adds none.", "shortcut_budget", "links"],
  "POST /portal/topologies/:id/apply": ["Adds suggested links one by one.", "links"],
  "POST /portal/topologies/:id/share": ["Shares the topology with an address.", "email"],
  "POST /portal/topologies/:id/unshare": ["Shares it no more.", "email"],
  "POST /portal/topologies/:id/bind": ["Binds an operator's key.", "operator_pubkey", "proof"],
  "POST /portal/topologies/:id/unbind": ["Unbinds it."],
  "POST /portal/topologies/:id/delete": ["Deletes the topology.", "confirm"],
  "POST /portal/claim/confirm": ["Spends a claim invite and takes the membership up.", "invite"],
  "POST /portal/channels/:channel/claim-form": ["Takes a membership up.", ...material, "account_proof"]
}
