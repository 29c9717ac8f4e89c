/** Why a field of a form was refused, in German. */
import { maxChannelLabel, maxRoomHolders, minRoomHolders } from "@catenet/domain/channels/Channel"
import { maxInviteLabel } from "@catenet/domain/channels/ClaimInvite"
import { maxExpiryHours } from "@catenet/domain/edges/AccessPolicy"
import { maxServiceAccountName } from "@catenet/domain/identity/ServiceAccount"
import { maxSuggestBudget, maxTopologyName } from "@catenet/domain/topologies/Topology"
import { maxReceiverLength, maxThresholdMinutes } from "@catenet/domain/tunnels/Alert"
import { maxShareLabel } from "@catenet/domain/tunnels/ShareLink"
import { maxTunnelName } from "@catenet/domain/tunnels/Tunnel"
import { maxManifestLocation, maxPerAccount, maxProjectName } from "@catenet/domain/values/Quotas"
import type { ReasonTexts } from "./EnglishReasons.ts"

export const reasonsTexts: ReasonTexts = {
  formRefused: "Nichts wurde geändert. Warum, steht an den markierten Feldern.",
  reasonUnknown: "Dieser Wert wird nicht angenommen.",
  reasons: {
    name: `Geben Sie einen Namen aus 1 bis ${maxTunnelName} Zeichen ohne Steuerzeichen an.`,
    hostname: "Geben Sie einen Hostnamen wie www.example.org an.",
    webhook_url: `Geben Sie eine https-Adresse aus höchstens ${maxReceiverLength} Zeichen ohne Benutzernamen und Passwort an.`,
    threshold_minutes: `Geben Sie eine ganze Zahl von 1 bis ${maxThresholdMinutes} an.`,
    token: "Geben Sie das Token an, das der Empfänger nimmt: druckbares ASCII ohne Leerzeichen.",
    expiry_mode: "Wählen Sie nie, einen Zeitpunkt oder Stunden.",
    expires_at: "Geben Sie ein Datum mit Uhrzeit an, das noch kommt, etwa 2027-01-31T18:00.",
    expires_in_hours: `Geben Sie eine ganze Zahl von 1 bis ${maxExpiryHours} an.`,
    day0: "Wählen Sie mindestens einen Tag.",
    start: "Geben Sie eine Zeit von 00:00 bis 23:59 an.",
    end: "Geben Sie eine Zeit nach dem Anfang an, höchstens 24:00.",
    time_zone: "Geben Sie einen Namen der Zeitzonendatenbank an, etwa Europe/Berlin.",
    tz_offset: "Wählen Sie einen der Abstände.",
    ttl: "Wählen Sie 1 Stunde, 24 Stunden oder 7 Tage (ttl).",
    label: `Geben Sie höchstens ${maxShareLabel} Zeichen an.`,
    email: "Geben Sie eine E-Mail-Adresse an.",
    grantee: "Geben Sie das Subject eines Kontos an.",
    mode: "Wählen Sie einen der Betriebe.",
    subject: "Geben Sie das Subject eines Kontos an.",
    what: "Wählen Sie Tunnel oder Kanäle.",
    max: `Geben Sie eine ganze Zahl von 0 bis ${maxPerAccount} an.`,
    manifest_location: `Geben Sie eine https-Adresse aus höchstens ${maxManifestLocation} Zeichen an.`,
    project_name: `Geben Sie einen Namen aus 1 bis ${maxProjectName} Zeichen ohne Steuerzeichen an.`,
    tool: "Wählen Sie eines der Werkzeuge.",
    arguments: "Geben Sie JSON an, oder nichts.",
    grant_hex: "Geben Sie eine Erlaubnis von 278 Hexziffern an.",
    credits: "Geben Sie eine ganze Zahl von Einheiten an.",
    operator_pubkey: "Geben Sie einen öffentlichen Ed25519-Schlüssel aus 64 Hexziffern an.",
    channel: "Geben Sie 64 Hexziffern an.",
    channel_id: "Geben Sie 64 Hexziffern an.",
    holder: "Geben Sie einen öffentlichen Ed25519-Schlüssel aus 64 Hexziffern an.",
    holders: `Geben Sie ${minRoomHolders} bis ${maxRoomHolders} öffentliche Schlüssel aus 64 Hexziffern an.`,
    noise_pubkey: "Geben Sie einen öffentlichen X25519-Schlüssel aus 64 Hexziffern an.",
    account_proof: "Geben Sie eine Unterschrift aus 128 Hexziffern an, oder lassen Sie das Feld leer.",
    noise_attestation: "Geben Sie eine Unterschrift aus 128 Hexziffern an.",
    grant: "Geben Sie eine Erlaubnis aus 278 Hexziffern an.",
    a: "Wählen Sie einen Agenten.",
    b: "Wählen Sie einen anderen Agenten.",
    agent: "Geben Sie einen öffentlichen Ed25519-Schlüssel aus 64 Hexziffern an.",
    proof: "Geben Sie die Signatur an, die die Zeile ausgibt: 128 Hexziffern.",
    shortcut_budget: `Geben Sie eine ganze Zahl von 0 bis ${maxSuggestBudget} an.`,
    links: "Geben Sie in jeder Zeile zwei Agenten der Topologie und eine ganze Zahl an, oder gar nichts.",
    confirm_rekey: "Setzen Sie den Haken: Alle Erlaubnisse enden.",
    "deregister confirm": "Setzen Sie den Haken: Alles davon wird entfernt.",
    "topology confirm": "Setzen Sie den Haken: Die Topologie wird gelöscht.",
    "service name": `Geben Sie einen Namen aus 1 bis ${maxServiceAccountName} Zeichen ohne Steuerzeichen an.`,
    "mail enabled":
      "Ihr Konto hat keine bestätigte E-Mail-Adresse. Bestätigen Sie eine, wo Sie sich anmelden, und melden Sie sich neu an.",
    "register label": `Geben Sie höchstens ${maxChannelLabel} Zeichen an, oder nichts.`,
    "label label": `Geben Sie höchstens ${maxChannelLabel} Zeichen an, oder nichts.`,
    "topology name": `Geben Sie höchstens ${maxTopologyName} Zeichen an, oder nichts.`,
    "name name": `Geben Sie höchstens ${maxTopologyName} Zeichen an, oder nichts.`,
    "invite label": `Geben Sie höchstens ${maxInviteLabel} Zeichen an.`,
    confirm: "Es wurde nichts gelöscht. Geben Sie DELETE in Großbuchstaben ein."
  }
}
