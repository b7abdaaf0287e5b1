@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// The journal entry of a request's last send. It is committed before the request is sent, so that the outcome can be
/// determined after a crash or a lost response.
struct UploadAttempt: Codable, Hashable, Sendable {
  /// The identifier by which the service recognizes a repetition: 32 hexadecimal digits.
  var id: String
  /// When the request was first sent, in seconds since 1970.
  var firstSent: Int64
  /// When it was last sent, in seconds since 1970.
  var sent: Int64?
  var method: String
  var url: String
  /// The `If-Match` condition that it was sent with.
  var ifMatch: String?
  /// The SHA-256 of the content, in hexadecimal digits; empty for no content.
  var digest: String
  /// The next unused identity of the store when the request was first sent. Entities with this identity or a higher one
  /// were added later.
  var newcomers: Int64?
  /// For a creation whose key the service assigns: the identity of a row with its content that a download contained before
  /// the creation was looked up (``LocalRows/recordArrivals()``).
  var arrived: Int64?
  /// True if the service responded that the change set failed, and no look-up has determined yet whether it took effect
  /// anyway.
  var isRejected: Bool?
  /// True if the service has accepted the request with 202, and may execute it later.
  var isAccepted: Bool?
  /// True if the service failed (5xx) and a later change of the entity may correct the request. If a look-up shows that it
  /// was not executed, the later changes are merged into it.
  var isCorrected: Bool?

  /// Creates the entry for a rendered request. If the same request was sent before, it keeps its identifier, because
  /// the service may know it.
  init(
    _ request: ODataSingleRequest, after last: UploadAttempt?, now: Int64, newcomers: Int64? = nil,
    random: () -> UInt64
  ) {
    method = request.operationName
    url = request.path
    ifMatch = request.ifMatch
    digest = UploadAttempt.digest(request.body)
    id = ""
    firstSent = now
    sent = now
    self.newcomers = newcomers
    if let last, last.method == method, last.url == url, last.ifMatch == ifMatch, last.digest == digest {
      (id, firstSent, self.newcomers, arrived) = (last.id, last.firstSent, last.newcomers, last.arrived)
    } else {
      id = UploadAttempt.name(random(), random())
    }
  }

  var json: String { JSONSettings.encode(self) }

  init?(json: String) {
    guard let attempt = JSONSettings.decode(UploadAttempt.self, json) else { return nil }
    self = attempt
  }

  /// A random GUID (RFC 9562 §5.4) without its hyphens.
  private static func name(_ high: UInt64, _ low: UInt64) -> String {
    let versioned = high & ~0xF000 | 0x4000
    let variant = low & ~(3 << 62) | 1 << 63
    return Hexadecimal.text(versioned, digits: 16) + Hexadecimal.text(variant, digits: 16)
  }

  private static func digest(_ body: ODataRequestBody) -> String {
    let text: String
    switch body {
    case .none, .stream: return ""
    case .bytes(let bytes, _): return Hexadecimal.text(Digest.sha256(bytes))
    case .reference(let url): text = url
    case .entity(let entity): text = String(describing: entity)
    case .properties(let properties): text = String(describing: properties)
    }
    return Hexadecimal.text(Digest.sha256(Array(text.utf8)))
  }

  /// The header fields by which a service recognizes a repetition: those of OASIS (Repeatable Requests 1.0 §3), before
  /// V4 those of SAP Gateway.
  func fields(_ version: ODataVersion) -> HTTPFields {
    let date = HTTPDate.text(firstSent)
    guard version >= .v4 else { return ["RequestID": id.uppercased(), "RepeatabilityCreation": date] }
    return ["Repeatability-Request-ID": hyphenated, "Repeatability-First-Sent": date]
  }

  /// Whether a request carries this identifier; false if the caller has set another one.
  func isName(in fields: HTTPFields, _ version: ODataVersion) -> Bool {
    self.fields(version).allSatisfy { fields[$0.name] == $0.value }
  }

  private var hyphenated: String {
    var text = ""
    for (place, character) in id.enumerated() {
      if place == 8 || place == 12 || place == 16 || place == 20 { text += "-" }
      text.append(character)
    }
    return text
  }

  /// The result of a repeatable request in a response; nil if the response does not contain one.
  static func result(_ fields: HTTPFields) -> Bool? {
    guard let result = fields["Repeatability-Result"] ?? fields["RepeatabilityResult"] else { return nil }
    return result.lowercased() == "accepted"
  }
}
