import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// The journal of a request's last send: committed before anything leaves, so that after a crash or a lost answer it can be
/// found out what became of it.
struct UploadAttempt: Codable, Hashable, Sendable {
  /// By what the service recognises a repetition: 32 hexadecimal digits.
  var id: String
  /// When it was first sent, in seconds since 1970.
  var firstSent: Int64
  /// When it was last sent.
  var sent: Int64?
  var method: String
  var url: String
  /// The condition that it was sent under.
  var ifMatch: String?
  /// SHA-256 of the content, in hexadecimal digits; empty for none.
  var digest: String
  /// The least identity that no entity of the store had when it was first sent: what has a higher one came later.
  var newcomers: Int64?
  /// True if the service has answered that the change set failed, and nobody could look yet what it did all the same.
  var isRejected: Bool?

  /// A send of a rendered request. What was sent before unchanged keeps its name, for the service may know it.
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
      (id, firstSent, self.newcomers) = (last.id, last.firstSent, last.newcomers)
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
    return digits(versioned) + digits(variant)
  }

  private static func digits(_ number: UInt64) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }

  private static func digest(_ body: ODataRequestBody) -> String {
    let text: String
    switch body {
    case .none, .stream: return ""
    case .bytes(let bytes, _): return hexadecimal(bytes)
    case .reference(let url): text = url
    case .entity(let entity): text = String(describing: entity)
    case .properties(let properties): text = String(describing: properties)
    }
    return hexadecimal(Array(text.utf8))
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    Digest.sha256(bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The fields by which a service recognises a repetition: those of OASIS (Repeatable Requests 1.0 §3), before V4 those of
  /// SAP Gateway.
  func fields(_ version: ODataVersion) -> HTTPFields {
    let date = HTTPDate.text(firstSent)
    guard version >= .v4 else { return ["RequestID": id.uppercased(), "RepeatabilityCreation": date] }
    return ["Repeatability-Request-ID": hyphenated, "Repeatability-First-Sent": date]
  }

  /// Whether a request carries this name; not where the caller has given it one.
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

  /// What an answer says of repetitions; nil where it says nothing.
  static func result(_ fields: HTTPFields) -> Bool? {
    guard let result = fields["Repeatability-Result"] ?? fields["RepeatabilityResult"] else { return nil }
    return result.lowercased() == "accepted"
  }
}
