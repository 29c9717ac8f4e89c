/** Channels, their members, invites and the bridge, in German. */
import { maxMembershipDays } from "@catenet/crypto/invite/PreparedMembership"
import { claimInviteSeconds, maxChannelLabel, maxRoomHolders, minRoomHolders } from "@catenet/domain/channels/Channel"
import { maxInviteLabel } from "@catenet/domain/channels/ClaimInvite"
import type { ChannelsTexts } from "./EnglishChannels.ts"
import { numerals } from "./Numerals.ts"

export const channelsTexts: ChannelsTexts = {
  channel: "Kanal",
  channelsText:
    "Ein Kanal verbindet Maschinen oder KI-Agenten. Nur seine Mitglieder können lesen, was sie senden; der Edge reicht Versiegeltes weiter.",
  invitedTo: "Einladung zum Kanal",
  channelsNoEmail: "Einladungen gehen an bestätigte E-Mail-Adressen; Ihre Sitzung hat keine.",
  channelsEmptyTitle: "Zwei Maschinen, je eine Zeile",
  channelsEmptyText:
    "Einen Kanal anlegen, die Einladung senden, und beide rufen über MCP die Werkzeuge der anderen auf. Zum Beitreten ist kein Konto nötig.",
  newChannel: "Neuer Kanal",
  newChannelText: "Ein Name zum Wiedererkennen, und der Schlüssel, der die Einladungen unterschreibt.",
  newRoom: "Neuer Raum",
  newRoomLong: `Mehrere zugleich: ein Raum für ${minRoomHolders} bis ${maxRoomHolders}`,
  channelLabel: "Name des Kanals",
  channelLabelHint: `Nur Sie sehen ihn. Höchstens ${maxChannelLabel} Zeichen.`,
  findChannel: "Kanal suchen",
  noChannelFits: "Kein Kanal passt.",
  channelsFound: (count: number) => `${numerals.de.count(count)} ${count === 1 ? "Kanal" : "Kanäle"}`,
  channelsNext: "Weitere Kanäle",
  channelsFirst: "Erste Kanäle",
  channelRoles: { all: "Alle", mine: "Eigene", joined: "Beigetreten" },
  columnRole: "Rolle",
  roleOwner: "Besitzer",
  grantsEnd: "Erlaubnisse enden",
  grantEnded: "Abgelaufen",
  inDays: (seconds: number) => {
    const [size, one, many] = seconds < 172_800 ? [3_600, "Stunde", "Stunden"] : ([86_400, "Tag", "Tagen"] as const)
    const count = Math.max(1, Math.floor(seconds / size))
    return `in ${numerals.de.count(count)} ${count === 1 ? one : many}`
  },
  membersOnly: "Nur Mitglieder lesen mit",
  membersCount: (count: number) => `${numerals.de.count(count)} ${count === 1 ? "Mitglied" : "Mitglieder"}`,
  membersNoneText: "Eine Maschine mit einer Zeile einladen. Wer sie ausführt, braucht hier kein Konto.",
  invite: "Einladen",
  holderShort: "Halter",
  keysTitle: "Schlüssel",
  keysLead: "Woran Mitglieder und Programme den Kanal erkennen.",
  haveKey: "Ich habe einen Schlüssel",
  channelKeyText:
    "Der Schlüssel des Operators unterschreibt die Einladungen des Kanals. Gesendet wird nur seine öffentliche Hälfte.",
  operatorMake: "Schlüssel in diesem Browser erzeugen",
  operatorMade:
    "Der Schlüssel steht in der gespeicherten Datei. Er wurde nicht gesendet. Die Datei aufbewahren: Sie wird gebraucht, um einzuladen.",
  mcpTitle: "MCP-Server",
  mcpShare:
    "Einen MCP-Server einer Maschine mit einer anderen teilen: Dieser Befehl gibt eine Zeile aus, die auf der anderen ausgeführt wird.",
  mcpGateway:
    "Den MCP-Client einmal für alle Maschinen einrichten, deren Zeilen ausgeführt wurden. Ihre Werkzeuge erreichen nur die eigene Maschine, nicht dieses Portal.",
  channelsRegister: "Kanal anlegen",
  channelId: "Kennung des Kanals",
  channelIdHint: "64 Hexziffern. Ohne Angabe wird sie hier erzeugt.",
  operatorKey: "Öffentlicher Schlüssel des Operators",
  operatorHint: "64 Hexziffern, Ed25519. Er unterschreibt die Erlaubnisse der Mitglieder.",
  holderKey: "Halterschlüssel",
  noiseKey: "Noise-Schlüssel",
  attestation: "Bezeugung",
  accountProof: "Nachweis für Ihr Konto",
  accountProofHint:
    "128 Hexziffern, freiwillig: die Unterschrift des Inhabers über Kanal, Schlüssel des Inhabers und Ihr Konto, damit niemand anders diese Mitgliedschaft übernimmt.",
  hex64: "64 Hexziffern.",
  hex128: "128 Hexziffern: die Unterschrift des Halters über Kanal, Halter und Noise-Schlüssel.",
  hex278: "278 Hexziffern.",
  noNoiseKey: "keiner",
  claimStates: {
    Pending: "Offen (Pending): Übernehmen Sie die Mitgliedschaft, um den Kanal zu nutzen",
    Claimed: "Übernommen (Claimed): Ihr Agent ist Mitglied"
  },
  claimAction: "Mitgliedschaft übernehmen",
  claimText: "Die Schlüssel sind die Ihres Agenten. Gesendet werden nur ihre öffentlichen Hälften.",
  claimAgain: "Sie haben eine Mitgliedschaft dieses Kanals übernommen. Eine weitere ersetzt ihre Schlüssel.",
  keysMake: "Schlüssel in diesem Browser erzeugen",
  keysMade:
    "Die privaten Hälften stehen in der gespeicherten Datei. Sie wurden nicht gesendet. Geben Sie die Datei Ihrem Agenten.",
  keysUnable: "Dieser Browser kann solche Schlüssel nicht erzeugen. Erzeugen Sie sie mit Ihrem Agenten.",
  joinTitle: "Einem Kanal beitreten",
  joinText:
    "Mit diesem Link wird ein Programm auf Ihrem Gerät Mitglied eines Kanals und spricht dort mit dem anderen Mitglied.",
  joinRun: "Geben Sie diese Zeile auf dem Gerät, das beitreten soll, in ein Terminal ein:",
  joinAddress: "die ganze Adresse dieser Seite",
  joinIncomplete: "Diese Adresse ist abgeschnitten: sie endet mit # und 86 Zeichen. Bitten Sie um den ganzen Link.",
  joinProgram:
    "Dazu ist das Programm ct-agent nötig. Wer den Link geschickt hat, kann die Zeile schicken, die es mitbringt und mit npx beginnt.",
  joinNode: "Nötig sind Node 26 und npm; sonst wird nichts installiert.",
  joinOnce: "Der Link gilt einmal und einen Tag lang. Diese Seite anzusehen verbraucht ihn nicht.",
  pickupTitle: "Ihre Erlaubnis",
  pickupWaits: "Der Besitzer des Kanals hat für diesen Halter noch keine Erlaubnis hinterlegt.",
  pickupUse: "Geben Sie dies dem Agenten, der den Schlüssel des Halters hat:",
  manifestInstall: "Ein Manifest einrichten",
  manifestLocation: "Adresse des Manifests",
  manifestLocationHint: "Eine https-Adresse. Der Agent prüft nach seiner eigenen Liste, wem er vertraut.",
  manifestProject: "Name des Projekts",
  collectGrant: "Erlaubnis holen",
  roomsTitle: "Räume",
  roomsText: `Ein Raum meldet für jedes Paar von ${minRoomHolders} bis ${maxRoomHolders} Haltern einen Kanal an.`,
  roomHolders: "Schlüssel der Halter",
  roomHoldersHint: `${minRoomHolders} bis ${maxRoomHolders}, je Zeile einer.`,
  roomsOpen: "Raum anlegen",
  membersTitle: "Mitglieder",
  membersNone: "Noch niemand",
  memberAdd: "Mitglied mit seinen Schlüsseln aufnehmen",
  grantTitle: "Erlaubnis",
  grantDeposit: "Erlaubnis hinterlegen",
  allowTitle: "Wer mit einem Konto beitreten darf",
  allowLead: "Wer sich mit einer dieser Adressen anmeldet, kann eine Mitgliedschaft übernehmen.",
  invitesTitle: "Einladungen",
  invitesNone: "Keine Einladung ist offen.",
  invitesLead: "Jede gilt einem Halterschlüssel und einmal.",
  inviteStates: { open: "offen", used: "benutzt", expired: "abgelaufen" },
  inviteMake: "Einladung für einen Halterschlüssel erzeugen",
  inviteLabelHint: `Höchstens ${maxInviteLabel} Zeichen.`,
  inviteTitle: "Einladung zu einem Kanal",
  inviteOnce: `Diese Adresse wird nur jetzt gezeigt. Sie gilt einmal und ${claimInviteSeconds / 60} Minuten lang.`,
  inviteText:
    "Mit dieser Einladung werden Sie Mitglied des Kanals, mit den Schlüsseln, die sein Besitzer eingetragen hat.",
  inviteLabel: "Bezeichnung",
  inviteUnnamed: "ohne Bezeichnung",
  inviteExpires: "Gültig bis",
  inviteConfirm: "Mitglied werden",
  lineTitle: "Mit einer Zeile einladen",
  lineText:
    "Macht eine Zeile, mit der ein anderer Rechner in den Kanal kommt. Sie gilt einmal, einen Tag lang. Wer beitritt, braucht hier kein Konto.",
  lineNoScript:
    "Die Zeile entsteht nur mit Skript, da der Schlüssel des Operators allein im Browser benutzt wird. Dieser Befehl macht sie auch:",
  lineFile: "Datei mit dem Schlüssel des Operators",
  lineFileHint: "Sie bleibt in Ihrem Browser: Nichts daraus wird gesendet.",
  lineUse: "Was der andere Rechner tut",
  lineUses: {
    mcp: "ruft Werkzeuge auf, aus einem MCP-Client",
    initiate: "ruft Werkzeuge auf, aus der Befehlszeile",
    accept: "bietet Werkzeuge an"
  },
  lineDays: "Tage, bis die Erlaubnis endet",
  lineDoor: "Eingang des Edge, wie jener Rechner ihn erreicht",
  lineDoorHint: "Host:Port",
  lineMake: "Zeile machen",
  lineBusy: "Die Zeile entsteht.",
  lineMade: "Senden Sie diese Zeile an die Person, die beitritt. Sie wird nur jetzt gezeigt.",
  lineFailed: "Es wurde keine Zeile gemacht. Laden Sie die Seite neu und versuchen Sie es noch einmal.",
  lineNoFile: "Wählen Sie die Datei mit dem Schlüssel des Operators.",
  lineOtherKey: "In der Datei ist kein Schlüssel, der zum Operator dieses Kanals gehört.",
  lineNoDays: `Geben Sie eine ganze Zahl von 1 bis ${maxMembershipDays} Tagen an.`,
  lineNoDoor: "Geben Sie Host und Port an, etwa edge.example.net:443.",
  lineNoRoot: "Das Wurzelzertifikat des Edge ist unter /pki/ca nicht zu lesen.",
  rekeyTitle: "Schlüssel des Operators ersetzen",
  rekeyText:
    "Erlaubnisse, die der bisherige Schlüssel unterschrieben hat, gelten nicht mehr. Jedes Mitglied braucht eine neue.",
  rekeyConfirm: "Mir ist klar, dass alle Erlaubnisse enden",
  channelEnd: "Kanal abmelden",
  channelEndText:
    "Entfernt seine Mitglieder, Erlaubnisse, Einladungen und die Liste, wer übernehmen darf. Das kann nicht rückgängig gemacht werden.",
  channelEndConfirm: "Alles davon entfernen",
  bridgesTitle: "Agentenbrücken",
  bridgeKeys: "Schlüssel der Brücke",
  bridgeKeysLead: "Eine Erlaubnis für die Brücke nennt diesen Halterschlüssel.",
  bridgeMissing: "Diese Plattform hat keine Brücke: Ihr Betreiber hat keine Schlüssel dafür gesetzt.",
  bridgeGrant: "Die Brücke einlassen",
  bridgeCall: "Ein Werkzeug aufrufen",
  bridgeTool: "Werkzeug",
  bridgeArguments: "Argumente",
  bridgeArgumentsHint: "JSON oder nichts."
}
