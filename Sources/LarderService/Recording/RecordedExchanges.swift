import LarderCore
@_spi(Stores) public import LarderHTTP
import LarderOData

/// A request and its response. The initializer replaces known secrets.
public struct RecordedExchange: Sendable, Hashable {
  /// The request method.
  public var method: HTTPMethod
  /// The absolute URL of the request. The initializer removes user information, and replaces the values of secret
  /// options by `***`; a URL that is set later, or that a file has, stays as it is.
  public var url: String
  /// The status code of the response.
  public var status: Int
  /// The header fields of the response. The initializer removes credentials and cookies; fields that are set later, or
  /// that a file has, stay as they are.
  public var fields: HTTPFields
  /// The content of the response. The initializer replaces known secrets; content that is set later, or that a file
  /// has, stays as it is.
  public var body: [UInt8]

  /// Creates an exchange. Known secrets are replaced; read the file before you share it. Known are, in the URL, the
  /// fields and the content:
  ///
  /// - the fields of `credentialFields`, and fields with cookies, tokens (also CSRF tokens) and sessions, except those that
  ///   were removed from `credentialFields`;
  /// - user information in URLs;
  /// - the values of options with a secret name (`access_token`, `sap-password`, `sig` and others), in the query, the
  ///   fragment and the path of a URL, and in a form, and values of other options if they are JSON with secrets;
  /// - the arguments of functions with a secret name, as in `Login(password='…')`;
  /// - the strings and numbers of JSON members, the texts of XML elements and the values of attributes with a secret name
  ///   (`access_token`, `clientSecret`, `password` and others), also in arrays, objects and other elements, in JSON and
  ///   XML that are cut or in strings, in UTF-16, and in the parts of a batch;
  /// - the value beside a secret name, as in `{"name":"password","value":"…"}`;
  /// - values that show what they are: a JWT, credentials with their scheme (`Bearer …`), private keys in PEM, and the
  ///   keys of known services.
  ///
  /// Strings become `***`, numbers 0. The values `true`, `false`, `yes`, `no` and `null`, ids, ETags, delta and next links
  /// with their tokens, metadata documents, and personal data stay. `larder record` also replaces the credentials that it
  /// has sent, wherever the service repeats them.
  public init(
    method: HTTPMethod = .get, url: String, status: Int, fields: HTTPFields = [:], body: [UInt8] = [],
    credentialFields: CredentialFields = CredentialFields()
  ) {
    var redaction = Redaction()
    self.init(
      method: method, url: url, status: status, fields: fields, body: body, credentialFields: credentialFields,
      redaction: &redaction)
  }

  /// Creates an exchange as the public initializer does, also without the credentials that the client has sent, and
  /// adds the number of replaced values.
  package init(
    method: HTTPMethod = .get, url: String, status: Int, fields: HTTPFields = [:], body: [UInt8] = [],
    credentialFields: CredentialFields, sent: SentSecrets, replacedCount: inout Int
  ) {
    var redaction = Redaction(sent: sent)
    self.init(
      method: method, url: url, status: status, fields: fields, body: body, credentialFields: credentialFields,
      redaction: &redaction)
    replacedCount += redaction.count
  }

  private init(
    method: HTTPMethod, url: String, status: Int, fields: HTTPFields, body: [UInt8],
    credentialFields: CredentialFields, redaction: inout Redaction
  ) {
    self.method = method
    self.url = redaction.url(url)
    self.status = status
    var recorded = HTTPFields()
    for field in fields where !RecordedExchange.contradictsContent.contains(field.name.canonicalName) {
      if RecordedExchange.isSecret(field.name, credentialFields) {
        redaction.countField()
      } else {
        recorded.append(field.name, RecordedExchange.withoutSecrets(field, &redaction))
      }
    }
    self.fields = recorded
    self.body = redaction.content(body, type: fields[.contentType])
  }

  /// Creates an exchange with what a file has: people may have edited it.
  init(stored method: HTTPMethod, url: String, status: Int, fields: HTTPFields, body: [UInt8]) {
    self.method = method
    self.url = url
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Whether a request gets this response: its method and its URL are the recorded ones. The values of secret options,
  /// and whether characters are percent-encoded, make no difference.
  public func matches(method: HTTPMethod, url: String) -> Bool {
    method == self.method && RecordedExchange.comparable(url) == RecordedExchange.comparable(self.url)
  }

  /// A URL as the text that all spellings of it have: without secrets and fragment, with one way of encoding. An
  /// encoded delimiter (`%26`) is part of a name or value, and stays different from a plain one.
  private static func comparable(_ url: String) -> String {
    var redaction = Redaction()
    let text = redaction.url(url).prefix { $0 != "#" }
    let sides = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let resource = sides.first ?? ""
    let start = resource.firstRange(of: "://")?.upperBound ?? resource.startIndex
    let authority = resource[start...].prefix { $0 != "/" }
    let path = resource[authority.endIndex...]
    let query = sides.dropFirst().map { query in
      "?" + encoded(query, ["&", "=", "+"])
    }
    return resource[..<authority.endIndex].lowercased() + encoded(path.isEmpty ? "/" : path, ["/"]) + query.joined()
  }

  /// The parts between delimiters, each encoded in one way.
  private static func encoded(_ text: Substring, _ delimiters: [Character]) -> String {
    guard let delimiter = delimiters.first else {
      return PercentEncoding.encode(PercentEncoding.decode(String(text)) ?? String(text), in: .unreserved)
    }
    let parts = text.split(separator: delimiter, omittingEmptySubsequences: false)
    return parts.map { encoded($0, Array(delimiters.dropFirst())) }.joined(separator: String(delimiter))
  }

  private static func withoutSecrets(_ field: HTTPField, _ redaction: inout Redaction) -> String {
    let value = redaction.value(of: field)
    guard ["www-authenticate", "proxy-authenticate"].contains(field.name.canonicalName) else { return value }
    // `Negotiate` is followed by what the client must use next.
    let challenges = value.split(separator: ",", omittingEmptySubsequences: false).map { challenge -> String in
      let words = challenge.split(separator: " ", maxSplits: 1)
      guard let scheme = words.first, words.count == 2, ["negotiate", "ntlm"].contains(scheme.lowercased()) else {
        return String(challenge)
      }
      redaction.countField()
      return challenge.prefix { $0 == " " } + scheme + " ***"
    }
    return challenges.joined(separator: ",")
  }

  /// The content is stored whole, so its fields of length and framing would contradict it. `Content-Encoding` is there
  /// only if the content is still encoded.
  private static let contradictsContent: Set = ["content-length", "transfer-encoding", "connection"]

  private static func isSecret(_ name: HTTPFieldName, _ credentials: CredentialFields) -> Bool {
    if ["authentication-info", "proxy-authentication-info"].contains(name.canonicalName) { return true }
    if let decision = credentials.decision(for: name) { return decision }
    let kind = SecretNames.kind(ofField: name)
    // A token that continues a list is needed to replay the list.
    return kind == .credential || kind == .csrfToken
  }
}

/// Exchanges with services in a file that people can read, for tests that replay them.
///
/// `larder record URL` writes such a file. It is JSON: an object with `larder` (`exchanges`), `version` (1) and
/// `exchanges`, an array with one object for each exchange: `request` (the method and the URL), `status`, `fields`, and
/// the content as `text`, or as `base64` if it is not UTF-8.
public struct RecordedExchanges: Sendable, Hashable {
  /// The exchanges in the order in which they were recorded.
  public var exchanges: [RecordedExchange]

  /// Creates a recording.
  public init(_ exchanges: [RecordedExchange] = []) { self.exchanges = exchanges }

  /// Reads the content of a file, as it is: it may have been edited.
  ///
  /// Throws ``RecordingError`` with the place of the problem.
  public init(encoded bytes: [UInt8]) throws(RecordingError) {
    guard !bytes.isEmpty else { throw RecordingError("it is empty") }
    let root: JSONNode
    do throws(JSONError) { root = try JSONNode(bytes) } catch { throw RecordingError("it is not JSON: \(error)") }
    guard root["larder"]?.string == "exchanges", let items = root["exchanges"]?.items else {
      throw RecordingError("it was not written by 'larder record'")
    }
    guard root["version"]?.text == "1" else {
      throw RecordingError("its version is \(root["version"]?.text ?? "missing"); this version of Larder reads 1")
    }
    if let name = Self.unknownMember(root, ["larder", "version", "exchanges"]) {
      throw RecordingError("there is no member '\(name)'")
    }
    exchanges = try items.enumerated().map { index, item throws(RecordingError) in
      try RecordedExchanges.exchange(item, number: index + 1)
    }
  }

  /// The content of a file with these exchanges.
  public var encoded: [UInt8] {
    var writer = JSONWriter(isIndented: true)
    writer.node(
      .object([
        .init("larder", .string("exchanges")), .init("version", .number("1")),
        .init("exchanges", .array(exchanges.map(RecordedExchanges.node))),
      ]))
    return writer.bytes + [0x0A]
  }

  private static func node(_ exchange: RecordedExchange) -> JSONNode {
    var members = [
      JSONNode.Member("request", .string("\(exchange.method) \(exchange.url)")),
      JSONNode.Member("status", .number(String(exchange.status))),
      JSONNode.Member("fields", .array(exchange.fields.map { .string("\($0.name): \($0.value)") })),
    ]
    if let text = String(validating: exchange.body, as: UTF8.self) {
      members.append(JSONNode.Member("text", .string(text)))
    } else {
      members.append(JSONNode.Member("base64", .string(Base64.text(exchange.body, isURLSafe: false))))
    }
    return .object(members)
  }

  /// A member that a later version, or an error in writing, may have added: it would be lost when the file is written.
  private static func unknownMember(_ node: JSONNode, _ names: Set<String>) -> String? {
    node.members?.first { !names.contains($0.name) }?.name
  }

  private static func exchange(_ node: JSONNode, number: Int) throws(RecordingError) -> RecordedExchange {
    func invalid(_ what: String) -> RecordingError { RecordingError("exchange \(number): \(what)") }
    if let name = unknownMember(node, ["request", "status", "fields", "text", "base64"]) {
      throw invalid("there is no member '\(name)'")
    }
    guard node["text"] == nil || node["base64"] == nil else { throw invalid("it has both 'text' and 'base64'") }
    let request = node["request"]?.string?.split(separator: " ", maxSplits: 1) ?? []
    guard request.count == 2 else { throw invalid("'request' must be a method and a URL") }
    guard let status = node["status"]?.text.flatMap(Int.init), (100...599).contains(status) else {
      throw invalid("'status' must be a number from 100 to 599")
    }
    var fields = HTTPFields()
    guard let lines = (node["fields"] ?? .array([])).items else { throw invalid("'fields' must be an array") }
    for line in lines {
      guard let text = line.string, let colon = text.firstIndex(of: ":") else {
        throw invalid("a field must be a string, such as 'Content-Type: text/plain'")
      }
      let value = text[text.index(after: colon)...].drop { $0 == " " }
      fields.append(HTTPFieldName(String(text[..<colon])), String(value))
    }
    guard
      let body = node["text"]?.string.map({ Array($0.utf8) }) ?? node["base64"]?.string.flatMap({ Base64.decode($0) })
    else {
      throw invalid("it needs 'text' or a valid 'base64'")
    }
    return RecordedExchange(
      stored: HTTPMethod(rawValue: String(request[0])), url: String(request[1]), status: status, fields: fields,
      body: body)
  }
}

/// The error of a file of recorded exchanges that cannot be read.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong with the file, and where.
  public let description: String

  package init(_ problem: String) {
    description = ErrorExplanation.sentence("The recording cannot be read: \(ErrorExplanation.clause(problem))")
  }
}

extension RecordingError: LarderError {
  /// Number 1, the only one.
  public var errorIdentity: ErrorIdentity { ErrorIdentity(1, "invalidRecording", .invalidData) }

  /// What is wrong with the file, and what to do about it.
  public var explanation: ErrorExplanation {
    ErrorExplanation(description, cure: "Correct the file, or record it again with 'larder record'.")
  }
}
