/**
 * The legal pages in German, as this program knows them: what it processes and offers, together with the operator's own
 * facts. What only the operator can know comes from configuration; nothing is made up.
 */
import { markup, type Markup } from "@catenet/platform/Markup"
import type { Operator } from "./EnglishLegal.ts"

const unnamed = markup`<p>Der Betreiber dieser Installation hat seine Angaben noch nicht hinterlegt.</p>`

const reached = ({ email, phone }: Operator) =>
  markup`${email === undefined ? undefined : markup`<p>E-Mail: <a href="mailto:${email}">${email}</a></p>`}${
    phone === undefined ? undefined : markup`<p>Telefon: ${phone}</p>`
  }`

const identity = (operator: Operator): Markup =>
  operator.name === undefined
    ? unnamed
    : markup`<address>
        <p>${operator.name}${operator.address.map((line) => markup`<br />${line}`)}</p>
        ${reached(operator)}
      </address>`

export const impressum = (operator: Operator): Markup =>
  markup`<h2>Betreiber</h2>
    ${identity(operator)}
    ${
      operator.vatId === undefined
        ? undefined
        : markup`<h2>Umsatzsteuer-ID</h2>
            <p>${operator.vatId}</p>`
    }
    ${
      operator.responsible === undefined
        ? undefined
        : markup`<h2>Verantwortlich für den Inhalt</h2>
            <p>${operator.responsible}</p>`
    }
    <h2>Art des Angebots</h2>
    <p>
      Vermittlung von Verbindungen: Tunnel vom öffentlichen Internet zu Diensten der Nutzer und Kanäle zwischen deren
      Agenten. Inhalte werden durchgeleitet und nicht gespeichert.
    </p>`

export const datenschutz = (operator: Operator): Markup =>
  markup`<h2>Verantwortlicher</h2>
    ${identity(operator)}
    <h2>Was verarbeitet wird</h2>
    <ul>
      <li>Zum Konto: die Kennung und die bestätigte E-Mail-Adresse, die der Anmeldedienst übermittelt.</li>
      <li>
        Zu Tunneln und Kanälen: Namen, öffentliche Schlüssel, Hostnamen, Berechtigungen und E-Mail-Adressen, die Nutzer
        eintragen.
      </li>
      <li>
        Zum Betrieb: Zeiten und Datenmengen von Verbindungen sowie ein Protokoll sicherheitsrelevanter Änderungen.
      </li>
    </ul>
    <p>
      Inhalte durchgeleiteter Verbindungen werden nicht gespeichert. Bei Hostnamen mit eigenem Zertifikat sind sie für
      diesen Dienst nicht lesbar.
    </p>
    <h2>Cookies</h2>
    <p>
      Das Cookie der Anmeldung, das der gewählten Sprache und, auf geschützten Seiten von Nutzern, das der Freigabe. Keine Auswertung des
      Verhaltens, keine Inhalte Dritter.
    </p>
    <h2>Rechtsgrundlage und Dauer</h2>
    <p>
      Art. 6 Abs. 1 lit. b und f DSGVO. Angaben zum Konto werden mit dem Konto gelöscht, Sitzungen mit ihrem Ablauf.
    </p>
    <h2>Rechte</h2>
    <p>
      Auskunft, Berichtigung, Löschung, Einschränkung, Übertragbarkeit, Widerspruch und Beschwerde bei einer
      Aufsichtsbehörde. Das Konto lässt sich jederzeit selbst löschen.
    </p>`

export const nutzungsbedingungen = (operator: Operator): Markup =>
  markup`<h2>Anbieter</h2>
    ${identity(operator)}
    <h2>Leistung</h2>
    <p>
      Der Dienst leitet Verbindungen zu Diensten der Nutzer weiter und vermittelt Kanäle zwischen Agenten. Eine
      bestimmte Verfügbarkeit ist nicht zugesagt.
    </p>
    <h2>Pflichten der Nutzer</h2>
    <p>
      Nutzer sind für das verantwortlich, was sie erreichbar machen, halten ihre Schlüssel und Token geheim und
      verbreiten nichts Rechtswidriges. Ein Hostname, über den Rechtswidriges verbreitet wird, darf gesperrt werden.
    </p>
    <h2>Sicherheit</h2>
    <p>
      Der Zustand „gelb“ eines Hostnamens bedeutet, dass der Dienst die Verschlüsselung beendet; bei „grün“ hält allein
      der Nutzer den Schlüssel.
    </p>
    <h2>Recht</h2>
    <p>Es gilt das Recht am Sitz des Anbieters, soweit nicht zwingende Vorschriften anderes bestimmen.</p>`
