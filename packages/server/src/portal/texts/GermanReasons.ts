/** Why a field of a form was refused, in German. */
import type { ReasonTexts } from "./EnglishReasons.ts"

export const reasonsTexts: ReasonTexts = {
  reasonUnknown: "Dieser Wert wird nicht angenommen.",
  reasons: {
    name: "Geben Sie einen Namen aus 1 bis 60 Zeichen ohne Steuerzeichen an.",
    webhook_url: "Geben Sie eine https-Adresse aus höchstens 2048 Zeichen ohne Benutzernamen und Passwort an.",
    threshold_minutes: "Geben Sie eine ganze Zahl von 1 bis 10080 an.",
    expiry_mode: "Wählen Sie nie, einen Zeitpunkt oder Stunden.",
    expires_at: "Geben Sie ein Datum mit Uhrzeit an, das noch kommt, etwa 2027-01-31T18:00.",
    expires_in_hours: "Geben Sie eine ganze Zahl von 1 bis 8760 an.",
    day0: "Wählen Sie mindestens einen Tag.",
    start: "Geben Sie eine Zeit von 00:00 bis 23:59 an.",
    end: "Geben Sie eine Zeit nach dem Anfang an, höchstens 24:00.",
    tz_offset: "Wählen Sie eine der Zeitzonen.",
    ttl: "Wählen Sie 1 Stunde, 24 Stunden oder 7 Tage (ttl).",
    label: "Geben Sie höchstens 60 Zeichen an.",
    email: "Geben Sie eine E-Mail-Adresse an.",
    grantee: "Geben Sie das Subject eines Kontos an.",
    mode: "Wählen Sie einen der Betriebe.",
    subject: "Geben Sie das Subject eines Kontos an, das schon hier war.",
    what: "Wählen Sie Tunnel oder Kanäle.",
    max: "Geben Sie eine ganze Zahl von 0 bis 1000000 an.",
    manifest_location: "Geben Sie eine https-Adresse aus höchstens 2048 Zeichen an.",
    project_name: "Geben Sie einen Namen aus 1 bis 64 Zeichen ohne Steuerzeichen an.",
    tool: "Wählen Sie eines der Werkzeuge.",
    arguments: "Geben Sie JSON an, oder nichts.",
    grant_hex: "Geben Sie eine Erlaubnis von 278 Hexziffern an.",
    credits: "Geben Sie eine ganze Zahl von Einheiten an.",
    operator_pubkey: "Geben Sie einen öffentlichen Ed25519-Schlüssel aus 64 Hexziffern an.",
    channel: "Geben Sie 64 Hexziffern an.",
    channel_id: "Geben Sie 64 Hexziffern an.",
    holder: "Geben Sie einen öffentlichen Ed25519-Schlüssel aus 64 Hexziffern an.",
    holders: "Geben Sie 2 bis 12 öffentliche Schlüssel aus 64 Hexziffern an.",
    noise_pubkey: "Geben Sie einen öffentlichen X25519-Schlüssel aus 64 Hexziffern an.",
    noise_attestation: "Geben Sie eine Unterschrift aus 128 Hexziffern an.",
    grant: "Geben Sie eine Erlaubnis aus 278 Hexziffern an.",
    confirm_rekey: "Setzen Sie den Haken: Alle Erlaubnisse enden.",
    confirm_end: "Setzen Sie den Haken: Alles davon wird entfernt.",
    confirm: "Es wurde nichts gelöscht. Geben Sie DELETE in Großbuchstaben ein."
  }
}
