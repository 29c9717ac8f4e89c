/** Refusals in German, by their codes: title and sentence. */
import { maxRoomHolders, minRoomHolders } from "@catenet/domain/channels/Channel"
import { maxSuggestAgents, maxSuggestBudget } from "@catenet/domain/topologies/Topology"
import { maxShareLinks } from "@catenet/domain/tunnels/GateErrors"

export const problems: ReadonlyMap<string, readonly [title: string, detail: string]> = new Map([
  ["MalformedRequest", ["Angaben nicht lesbar", "Eine Angabe fehlt oder hat nicht die verlangte Form."]],
  ["CrossSiteRequest", ["Anfrage einer anderen Seite", "Das Formular wurde nicht aus diesem Portal gesendet."]],
  ["RateLimited", ["Zu viele Anfragen", "In einer Minute ist weniger erlaubt, als angefragt wurde."]],
  ["BodyTooLarge", ["Zu viele Angaben", "Das Formular ist größer als erlaubt."]],
  ["UnsupportedMediaType", ["Falsche Form", "Das Formular wurde in einer anderen Form gesendet als erwartet."]],
  ["LimitReached", ["Limit erreicht", "Davon gibt es schon so viele wie erlaubt. Entfernen Sie zuerst etwas."]],
  ["GrantNotFound", ["Nichts zu entfernen", "Der Tunnel hat keinen solchen Eintrag."]],
  ["AlertNotFound", ["Keine Meldung", "Für diesen Tunnel ist keine Meldung eingerichtet."]],
  ["DeliveryBudgetSpent", ["Zu viele Meldungen", "Das Konto hat seine Meldungen dieser Stunde verbraucht."]],
  ["LoginNotRequired", ["Anmeldung nicht verlangt", "Schalten Sie zuerst die Anmeldung für diesen Tunnel ein."]],
  ["TunnelWithoutHostname", ["Kein Hostname", "Dieser Tunnel hat keinen Hostnamen, für den ein Link gelten könnte."]],
  ["ShareLinkNeedsHost", ["Name des Links", "Ein Link führt zu einem Namen eine Ebene unter dem des Tunnels."]],
  [
    "ShareLinkNeedsGelb",
    [
      "Nicht am Edge entschlüsselt (gelb)",
      "Der Edge öffnet die Verbindungen der Besucher dieses Tunnels nicht; ein Link ließe niemanden ein."
    ]
  ],
  [
    "ShareLinkLimitReached",
    ["Zu viele Links", `Es gibt schon ${maxShareLinks} aktive Links. Beenden Sie zuerst einen.`]
  ],
  ["ShareLinkNotFound", ["Link nicht gefunden", "Dieser Tunnel hat keinen solchen Link, der zu beenden wäre."]],
  ["RulesRefused", ["Regeln abgelehnt", "Eine Regel verlangt etwas, was der Tunnel nicht hat."]],
  ["RuleLimitReached", ["Limit erreicht", "Ihr Konto hat so viele Regeln wie erlaubt."]],
  ["AccessRefused", ["Öffnungszeiten abgelehnt", "Eine Angabe zu den Öffnungszeiten ist nicht brauchbar."]],
  ["AlertRefused", ["Meldung abgelehnt", "Eine Angabe zur Meldung ist nicht brauchbar."]],
  ["ClaimNotLapsed", ["Nichts zurückzuholen", "Der Platz des Tunnels in der Warteschlange ist nicht verfallen."]],
  ["HostnameHeld", ["Name vergeben", "Der Tunnel hat einen eigenen Namen; geben Sie ihn zuerst auf."]],
  ["HostnameNotProved", ["Name nicht nachgewiesen", "Das DNS zeigt keinen Eintrag, der den Namen nachweist."]],
  ["HostnameReserved", ["Name vorbehalten", "Dieser Name kann keinem Tunnel gehören."]],
  ["HostnameTaken", ["Name vergeben", "Dieser Name gehört schon zu einem anderen Tunnel."]],
  ["NoHostnameToVerify", ["Kein Name nachzuweisen", "Dieser Tunnel hat keinen eigenen Namen, der nachzuweisen wäre."]],
  ["DnsUnanswered", ["Das DNS antwortet nicht", "Die Einträge sind nicht lesbar. Versuchen Sie es noch einmal."]],
  [
    "ReceiptsUnavailable",
    ["Belege nicht verfügbar", "Die Belege können jetzt nicht ausgegeben werden. Versuchen Sie es später."]
  ],
  ["BridgeNotConfigured", ["Keine Brücke", "Diese Plattform hat keine Brücke eingerichtet."]],
  ["BridgeGrantMissing", ["Keine Erlaubnis", "Für diesen Tunnel ist keine Erlaubnis der Brücke gespeichert."]],
  ["GrantUndecodable", ["Erlaubnis nicht lesbar", "Die Erlaubnis kann nicht gelesen werden."]],
  ["GrantMismatch", ["Erlaubnis passt nicht", "Die Erlaubnis gilt für einen anderen Kanal oder einen anderen Halter."]],
  [
    "RefusedOrderUnknown",
    ["Keine solche Anweisung", "Sie wurde schon noch einmal gesendet, oder eine spätere ist an ihrer Stelle."]
  ],
  ["SessionNotFound", ["Sitzung nicht gefunden", "Ihr Konto hat keine solche Sitzung."]],
  ["CreditsOutOfRange", ["Menge nicht möglich", "So viele Einheiten können nicht angefordert werden."]],
  ["ServiceAccountNotFound", ["Dienstkonto nicht gefunden", "Ihr Konto hat kein solches Dienstkonto."]],
  ["IdentityProviderFailed", ["Anbieter antwortet nicht", "Der Identitätsanbieter hat die Anfrage nicht angenommen."]],
  ["IdentityProviderNotConfigured", ["Nicht eingerichtet", "Diese Plattform verwaltet keine Dienstkonten."]],
  ["NotChannelOwner", ["Nicht Ihr Kanal", "Der Kanal gehört nicht Ihnen."]],
  ["ChannelLimitReached", ["Limit erreicht", "Ihr Konto hat so viele Kanäle wie erlaubt."]],
  [
    "OperatorProofRefused",
    [
      "Nachweis abgelehnt",
      "Der Nachweis ist keine Unterschrift des Operators für Ihr Konto, oder der Kanal leitet sich nicht von seinem Schlüssel ab."
    ]
  ],
  [
    "ClaimProofRefused",
    ["Nachweis abgelehnt", "Der Nachweis ist keine Unterschrift des Inhabers für diesen Kanal und Ihr Konto."]
  ],
  [
    "LinkOperatorDiffers",
    [
      "Anderer Schlüssel des Operators",
      "Der Kanal gehört zu einer Verbindung, deren Operator einen anderen Schlüssel hat."
    ]
  ],
  ["OperatorMismatch", ["Anderer Schlüssel des Operators", "Der Kanal hat einen anderen Schlüssel des Operators."]],
  [
    "AttestationRefused",
    ["Bezeugung abgelehnt", "Die Bezeugung ist keine Unterschrift des Halters über Kanal, Halter und Noise-Schlüssel."]
  ],
  ["MemberNotFound", ["Mitglied nicht gefunden", "Dieser Halter ist kein Mitglied des Kanals."]],
  [
    "RoomSizeOutOfRange",
    ["Raum zu klein oder zu groß", `Ein Raum hat ${minRoomHolders} bis ${maxRoomHolders} Halter.`]
  ],
  ["HolderRepeated", ["Halter doppelt", "Ein Halter ist zweimal genannt."]],
  ["RoomPairTaken", ["Paar vergeben", "Ein Kanal dieses Raums gehört einem anderen Konto."]],
  ["NotAllowListed", ["Nicht eingeladen", "Ihre E-Mail-Adresse steht nicht auf der Liste dieses Kanals."]],
  ["HolderClaimedElsewhere", ["Halter vergeben", "Diesen Halter hat ein anderes Konto übernommen."]],
  ["NothingClaimed", ["Nichts übernommen", "Ihr Konto hat von diesem Kanal nichts übernommen."]],
  ["ServiceAccountLimitReached", ["Limit erreicht", "Ihr Konto hat so viele Dienstkonten wie erlaubt."]],
  [
    "VerifiedEmailRequired",
    ["Keine bestätigte E-Mail", "Ihre Sitzung hat keine bestätigte E-Mail-Adresse. Die Einladung bleibt gültig."]
  ],
  [
    "TopologyNotFound",
    [
      "Topologie nicht gefunden",
      "Es gibt keine solche Topologie für Sie, oder die Anfrage weist nicht nach, was sie nachweisen muss."
    ]
  ],
  ["TopologyLimitReached", ["Limit erreicht", "Ihr Konto hat so viele Topologien wie erlaubt."]],
  ["NotAgentOwner", ["Nicht Ihr Agent", "Dieser Agent gehört einem anderen Konto."]],
  [
    "AgentAssigned",
    ["Agent schon zugeordnet", "Dieser Agent ist schon in einer Topologie; er kann nur in einer sein."]
  ],
  ["AgentNotAssigned", ["Agent nicht in der Topologie", "Dieser Agent ist nicht in der Topologie."]],
  [
    "EdgeRefused",
    [
      "Verbindung abgelehnt",
      "Die Verbindung gibt es schon, sie verbindet einen Agenten mit sich, oder Sie dürfen sie nicht ändern."
    ]
  ],
  [
    "EdgeNotFound",
    ["Verbindung nicht gefunden", "Zwischen diesen Agenten gibt es keine Verbindung, die Sie ändern dürfen."]
  ],
  [
    "ChannelUnrelated",
    ["Nicht Ihr Kanal", "Ein Vermerk nennt einen Kanal, der Ihnen gehört oder zu dem Sie eingeladen sind."]
  ],
  [
    "NothingToSuggest",
    [
      "Nichts vorzuschlagen",
      "Die Topologie ist in der Art baseline. Wählen Sie eine andere, um Vorschläge zu bekommen."
    ]
  ],
  [
    "ShortcutBudgetTooLarge",
    ["Zu viele Abkürzungen", `Ein Vorschlag enthält höchstens ${maxSuggestBudget} Abkürzungen.`]
  ],
  ["TooManyAgents", ["Zu viele Agenten", `Ein Vorschlag wird für höchstens ${maxSuggestAgents} Agenten berechnet.`]],
  ["ShareNotFound", ["Nicht geteilt", "Mit dieser Adresse ist keine Ihrer Topologien geteilt."]],
  [
    "PlacementProofInvalid",
    ["Nachweis ungültig", "Der Nachweis ist keine Unterschrift des Agenten über diese Topologie und Ihr Konto."]
  ],
  ["Unauthenticated", ["Nicht angemeldet", "Melden Sie sich an, um diese Seite zu sehen."]],
  [
    "InternalFailure",
    ["Der Dienst ist gescheitert", "Versuchen Sie es noch einmal. Der Grund steht im Protokoll des Dienstes."]
  ],
  [
    "DatabaseUnreachable",
    ["Die Datenbank antwortet nicht", "Sie kann jetzt nicht gelesen werden. Versuchen Sie es gleich noch einmal."]
  ],
  ["MethodNotAllowed", ["So nicht", "Diese Adresse beantwortet andere Anfragen als diese."]],
  [
    "RouteNotFound",
    ["Unter dieser Adresse ist nichts", "Die Seite wurde vielleicht entfernt, oder die Adresse ist falsch geschrieben."]
  ],
  ["WrongShape", ["Angaben nicht lesbar", "Eine Angabe fehlt oder hat nicht die verlangte Form."]],
  ["RequestTimeout", ["Zu langsam", "Die Anfrage kam nicht rechtzeitig an."]],
  ["AccountUnknown", ["Konto unbekannt", "Ein solches Konto gibt es nicht."]],
  ["InsufficientCredits", ["Guthaben reicht nicht", "Das Konto hat weniger Einheiten als verlangt."]],
  [
    "FormSentBefore",
    [
      "Schon gesendet",
      "Dieses Formular wurde schon gesendet und zählte einmal. Was daraus wurde, zeigt die Seite, auf der es steht."
    ]
  ],
  [
    "IdempotencyKeyReused",
    ["Schon benutzt", "Dieses Formular wurde schon mit anderen Angaben gesendet. Laden Sie die Seite neu."]
  ],
  [
    "PortRefused",
    ["Nicht bei einem Port", "Der Tunnel hat einen öffentlichen Port statt eines Namens; das geht dort nicht."]
  ],
  ["PortTaken", ["Port vergeben", "Ein anderer Tunnel hat diesen Port."]],
  ["NoPortLeft", ["Kein Port frei", "Es gibt keinen öffentlichen Port mehr für Ihr Konto."]],
  ["PortLimitReached", ["Limit erreicht", "Ihr Konto hat so viele öffentliche Ports wie erlaubt."]],
  ["TunnelLimitReached", ["Limit erreicht", "Ihr Konto hat so viele Tunnel wie erlaubt."]],
  ["BridgeCallFailed", ["Agent nicht erreicht", "Der Agent ist über die Brücke nicht zu erreichen."]],
  ["BadgeNotFound", ["Kein Zeichen", "Ein solches Zeichen gibt es nicht."]],
  [
    "EdgeUnavailable",
    [
      "Der Edge antwortet nicht",
      "Der Edge ist nicht zu erreichen oder hat die Anfrage abgelehnt. Versuchen Sie es noch einmal."
    ]
  ],
  [
    "SignInNotConfigured",
    ["Anmeldung nicht eingerichtet", "Die Anmeldung ist auf dieser Plattform nicht eingerichtet."]
  ],
  [
    "SignInRefused",
    ["Anmeldung abgelehnt", "Diese Anmeldung wurde nicht in diesem Browser begonnen, oder ihre Zeit ist vorbei."]
  ],
  [
    "SignInCancelled",
    ["Anmeldung abgebrochen", "Die Anmeldung wurde beim Identitätsanbieter abgebrochen. Es hat sich nichts geändert."]
  ],
  ["SignInFailed", ["Anmeldung gescheitert", "Der Identitätsanbieter hat die Anmeldung nicht abgeschlossen."]],
  [
    "EmailDomainRefused",
    ["Nicht für diese Adresse", "Diese Plattform ist für E-Mail-Adressen der Domains, die ihr Betreiber zulässt."]
  ],
  [
    "GateNotConfigured",
    ["Keine Zugangskontrolle", "Die Anmeldung von Besuchern ist auf dieser Plattform nicht eingerichtet."]
  ],
  ["HostNotGated", ["Keine Anmeldung nötig", "Dieser Host verlangt keine Anmeldung."]],
  [
    "VisitorNotAllowed",
    ["Kein Zugang", "Ihr Konto darf diesen Host nicht besuchen. Sein Besitzer kann Sie eintragen."]
  ],
  [
    "GateCodeRefused",
    [
      "Anmeldung nicht angenommen",
      "Diese Anmeldung wurde schon benutzt, ist zu alt oder begann in einem anderen Browser."
    ]
  ],
  [
    "ShareLinkRefused",
    [
      "Link abgelehnt",
      "Dieser Link gilt nicht: Er ist abgelaufen, verbraucht oder beendet, oder er gehört zu einem anderen Host."
    ]
  ],
  ["AccessWindowClosed", ["Zurzeit geschlossen", "Dieser Host hat jetzt nicht geöffnet."]],
  ["ClaimInviteUnknown", ["Einladung unbekannt", "Eine solche Einladung gibt es nicht."]],
  ["ClaimInviteGone", ["Einladung verbraucht", "Die Einladung wurde schon benutzt oder ist abgelaufen."]]
])
