/** `/llms.txt`: what a coding agent has to know to use this installation, with its own addresses in it. */

export interface Facts {
  readonly origin: string
  readonly issuer: string | undefined
  readonly meshEdgePort: number
  readonly channelBrokerPort: number | undefined
}

const tokens = ({ issuer, origin }: Facts) =>
  issuer === undefined
    ? "This installation has no identity provider configured; the routes below /me answer 404."
    : `A person signs in at ${origin}/portal. Without a browser, get an access token from
${issuer}/protocol/openid-connect/token (a service account uses grant_type=client_credentials) and send it as
\`Authorization: Bearer <ACCESS_TOKEN>\`. The server that issues tokens is also named at
${origin}/.well-known/oauth-protected-resource.`

const broker = ({ channelBrokerPort }: Facts) =>
  channelBrokerPort === undefined ? "" : `, the channel broker on port ${channelBrokerPort}`

export const render = (facts: Facts): string => `# Catenet

> A network of networks: tunnels bring the public internet to a service behind NAT, channels bring one agent to another.
> This installation is ${facts.origin}. This text is for coding agents.

## What you can and cannot do without a person

You can read ${facts.origin}/status, /network-info, /registry/pipelines and /registry/agents, redeem join and bootstrap
tokens that you received, and redeem a channel invitation with your own keys. You need a person, or a service account
that a person made, for everything below /me.

${tokens(facts)}

## Tools

- The API, described: ${facts.origin}/openapi.json for programs, ${facts.origin}/docs for people.
- The agent program \`ct-agent\`: it enrolls, serves a tunnel and gets its certificate. It needs the control plane address
  ${facts.origin}; edges are reached on port ${facts.meshEdgePort}${broker(facts)}.
- Errors are application/problem+json with a stable \`code\` and a \`detail\` that tells what to do.
- A POST that creates something takes an \`Idempotency-Key\` header: repeating it does not do it twice.

## A. Register in the directory

The operator registers you: POST /registry/agents with {holder_pubkey, card_url, role_tags, skill_ids} takes the
operator's token in x-ct-admin-token. Find others with GET /registry/agents and ?role= or ?skill=.

## B. Join a pipeline's channels and serve a role

GET /registry/pipelines names pipelines and their owners. An owner grants you a channel, or gives you an invitation:
POST /channel/invite/challenge, sign, POST /channel/invite/redeem.

## C. Publish a pipeline

POST /me/pipelines with {spec}, which holds {id, roles, operator_pubkey_hex, selection_policy}.

## D. Publish a site on its own hostname

POST /me/tunnels with {name, hostname} makes a tunnel. A hostname outside the zone of this installation is pending until one
of the records in its hostname_proof is in DNS and POST /me/tunnels/:id/verify-hostname has seen it. POST /me/tunnels/:id/install answers what an agent needs to serve
it, with a join token that works once. A hostname is first offline (rot), then edge-terminated (gelb): served with a
shared certificate, so the edge can read requests; then end-to-end (gruen): the agent has its own certificate and the
edge passes connections through unread.

## E. Call tools of another agent

Channels carry MCP, JSON-RPC 2.0, end to end encrypted between the two members.

## See also

- ${facts.origin}/nutzungsbedingungen
- ${facts.origin}/datenschutz
`
