/** What the next page says after a form that was taken, by the form's address, in English. */
import type { TextsOf } from "./TextsOf.ts"

export const savedTexts = {
  saved: {
    "/portal/tunnels": "The tunnel is created. Open it to connect an agent.",
    "/portal/tunnels/bulk": "Done for the chosen tunnels.",
    "/portal/tunnels/:id/rename": "The name is changed.",
    "/portal/tunnels/:id/delete": "The tunnel is deleted.",
    "/portal/tunnels/:id/require-login": "Saved: Login required.",
    "/portal/tunnels/:id/allow-any-login": "Saved: Every signed-in account may visit.",
    "/portal/tunnels/:id/unproved-agents": "Saved: which agents may serve the tunnel.",
    "/portal/tunnels/:id/options/:option": "Saved: the option of the tunnel.",
    "/portal/tunnels/:id/login-allowlist": "The address is on the list.",
    "/portal/tunnels/:id/login-allowlist/:email/remove": "The address is off the list.",
    "/portal/tunnels/:id/access-requests/:email/dismiss": "The request is dismissed.",
    "/portal/tunnels/:id/grants": "The tunnel is shared with the account.",
    "/portal/tunnels/:id/grants/:grantee/delete": "The account no longer sees the tunnel.",
    "/portal/tunnels/:id/reclaim-cert-slot": "The name queues for a certificate again.",
    "/portal/tunnels/:id/cert-claim-opt-out": "Saved: whether the name gets a certificate of its own.",
    "/portal/tunnels/:id/hostname": "Saved: the host name of the tunnel.",
    "/portal/tunnels/:id/hostname/remove": "The name is given up.",
    "/portal/tunnels/:id/verify-hostname": "The records of the name were checked.",
    "/portal/tunnels/:id/rotate-token": "The token is replaced. Make a new line for each agent.",
    "/portal/tunnels/:id/badge/enable": "The badge is on.",
    "/portal/tunnels/:id/badge/disable": "The badge is off; its address answers no more.",
    "/portal/tunnels/:id/alert": "The alert is saved.",
    "/portal/tunnels/:id/alert/test": "The test message was delivered.",
    "/portal/tunnels/:id/alert/delete": "The alert is deleted.",
    "/portal/tunnels/:id/access": "The opening hours are saved.",
    "/portal/tunnels/:id/access/clear": "The tunnel is open without restriction.",
    "/portal/tunnels/:id/share-links/:link_id/revoke": "The link has ended.",
    "/portal/tunnels/:id/agent-bridge": "The mode of the bridge is saved.",
    "/portal/tunnels/:id/agent-bridge/grant": "The grant is stored.",
    "/portal/account/notice-mail": "Saved: whether notices are mailed.",
    "/portal/account/applications/end": "The application is disconnected.",
    "/portal/account/sessions/end-others": "All other sessions have ended.",
    "/portal/account/sessions/:id/end": "The session has ended.",
    "/portal/account/service-accounts/:client_id/delete": "The service account is removed.",
    "/portal/channels": "The channel is created. Invite a machine to it.",
    "/portal/channels/:channel/label": "The name of the channel is saved.",
    "/portal/rooms": "The room is made.",
    "/portal/channels/:channel/rekey": "The operator key is replaced.",
    "/portal/channels/:channel/deregister": "The channel is gone.",
    "/portal/channels/:channel/members": "The member is saved.",
    "/portal/channels/:channel/members/:holder/remove": "The member is removed.",
    "/portal/channels/:channel/allowlist": "The address may claim membership.",
    "/portal/channels/:channel/allowlist/:email/remove": "The address may no longer claim membership.",
    "/portal/channels/:channel/grants": "The grant is deposited.",
    "/portal/topologies/:id/delete": "The topology is deleted."
  }
}

export type SavedTexts = TextsOf<typeof savedTexts>
