/** The legal pages in English, and the operator's facts in them. The German pages are binding. */
import { markup, type Markup } from "@catenet/platform/Markup"

/** The operator, as far as the settings say. */
export interface Operator {
  readonly name: string | undefined
  readonly address: ReadonlyArray<string>
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly vatId: string | undefined
  readonly responsible: string | undefined
}

const unnamed = markup`<p>The operator of this installation has not entered who they are.</p>`

const reached = ({ email, phone }: Operator) =>
  markup`${email === undefined ? undefined : markup`<p>E-mail: <a href="mailto:${email}">${email}</a></p>`}${
    phone === undefined ? undefined : markup`<p>Telephone: ${phone}</p>`
  }`

const identity = (operator: Operator): Markup =>
  operator.name === undefined
    ? unnamed
    : markup`<address>
        <p>${operator.name}${operator.address.map((line) => markup`<br />${line}`)}</p>
        ${reached(operator)}
      </address>`

export const impressum = (operator: Operator): Markup =>
  markup`<h2>Operator</h2>
    ${identity(operator)}
    ${
      operator.vatId === undefined
        ? undefined
        : markup`<h2>VAT id</h2>
            <p>${operator.vatId}</p>`
    }
    ${
      operator.responsible === undefined
        ? undefined
        : markup`<h2>Responsible for the content</h2>
            <p>${operator.responsible}</p>`
    }
    <h2>What is offered</h2>
    <p>
      Relaying of connections: tunnels from the public internet to services of users, and channels between their agents.
      Contents are passed on and not stored.
    </p>`

export const datenschutz = (operator: Operator): Markup =>
  markup`<h2>Controller</h2>
    ${identity(operator)}
    <h2>What is processed</h2>
    <ul>
      <li>Of an account: the identifier and the verified e-mail address that the identity provider sends.</li>
      <li>Of tunnels and channels: names, public keys, host names, permissions, and e-mail addresses that users enter.</li>
      <li>For operation: times and amounts of connections, and a log of changes that matter for security.</li>
    </ul>
    <p>
      Contents of relayed connections are not stored. On host names with a certificate of their own this service cannot read
      them.
    </p>
    <h2>Cookies</h2>
    <p>
      The cookie of the sign-in, that of the chosen language and, on protected pages of users, that of the admission. Behaviour
      is not analysed, and nothing comes from third parties.
    </p>
    <h2>Legal basis and duration</h2>
    <p>
      Art. 6 (1) (b) and (f) GDPR. What belongs to an account is deleted with the account, sessions when they end.
    </p>
    <h2>Rights</h2>
    <p>
      Access, rectification, erasure, restriction, portability, objection, and complaint to a supervisory authority. You can
      delete your account yourself at any time.
    </p>`

export const nutzungsbedingungen = (operator: Operator): Markup =>
  markup`<h2>Provider</h2>
    ${identity(operator)}
    <h2>Service</h2>
    <p>
      The service passes connections on to services of users and arranges channels between agents. No certain availability is
      promised.
    </p>
    <h2>Duties of users</h2>
    <p>
      Users answer for what they make reachable, keep their keys and tokens secret, and spread nothing unlawful. A host name
      through which something unlawful is spread may be blocked.
    </p>
    <h2>Security</h2>
    <p>
      For an edge-terminated (gelb) host name, the service decrypts the connections of visitors; for an end-to-end (gruen)
      one, only the user holds the key.
    </p>
    <h2>Law</h2>
    <p>The law at the provider's seat applies, as far as binding rules do not say otherwise.</p>`
