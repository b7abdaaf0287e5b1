@_spi(Stores) import LarderCore
import LarderHTTP
import LarderStorage

/// The key of a stored response: the URL, the owner of the response, and the requested representation.
struct CacheKey: Hashable, Sendable {
  /// The absolute URL with all its parameters, as it is sent, except that scheme and host are in lower case and an empty
  /// path is `/`: equal spellings are one resource (RFC 9110 §4.2.3).
  var url: String
  /// The owner: a digest under the file's own salt, from which the credential cannot be recovered.
  var scope: [UInt8]
  /// The representation: a digest of the request's fields that may select one.
  var variant: [UInt8]
  /// The URL as it is sent, if ``url`` differs from it. Earlier versions used it as the key.
  var formerURL: String?

  /// The form of a URL in ``url``. The rest is taken literally.
  static func normalised(_ url: String) -> String {
    let bytes = url.utf8
    var slashes = 0
    var hasUpper = false
    var end = bytes.startIndex
    scan: while end != bytes.endIndex {
      switch bytes[end] {
      case UInt8(ascii: "/"):
        slashes += 1
        if slashes == 3 { break scan }
      case UInt8(ascii: "?"), UInt8(ascii: "#"): break scan
      case 0x41...0x5A: hasUpper = true
      default: break
      }
      end = bytes.index(after: end)
    }
    // Nearly every URL has this form already.
    if slashes < 2 || slashes == 3 && !hasUpper { return url }
    let slash = slashes == 3 ? "" : "/"
    return "\(url[..<end].lowercased())\(slash)\(url[end...])"
  }
}

/// Creates cache keys: computes digests of credentials and fields with the salt of one cache file.
final class CacheKeyMaker: Sendable {
  private let salt: [UInt8]
  private let common: HTTPFields
  private let credentials: CredentialFields
  private let digestsByClient = Locked<[ClientIdentity: Digests]>([:])

  private struct ClientIdentity: Hashable {
    var identity: String
    var fields: HTTPFields
  }

  private struct Digests {
    var scope: [UInt8]
    var variant: [UInt8]
  }

  private static let maximumDigests = 256

  /// - Parameters:
  ///   - common: fields that the conversation adds to every request that lacks them.
  ///   - credentials: fields whose values separate the entries of different clients.
  init(salt: [UInt8], common: HTTPFields, credentials: CredentialFields) {
    self.salt = salt
    self.common = common
    self.credentials = credentials
  }

  /// The key of a request.
  func key(url: String, identity: String, fields: HTTPFields) -> CacheKey {
    let client = ClientIdentity(identity: identity, fields: fields)
    let digests = digestsByClient.withLock { digestsByClient in
      if let digests = digestsByClient[client] { return digests }
      let digests = self.digests(of: client)
      if digestsByClient.count >= CacheKeyMaker.maximumDigests { digestsByClient.removeAll() }
      digestsByClient[client] = digests
      return digests
    }
    let normalised = CacheKey.normalised(url)
    return CacheKey(
      url: normalised, scope: digests.scope, variant: digests.variant, formerURL: normalised == url ? nil : url)
  }

  private func digests(of client: ClientIdentity) -> Digests {
    var fields = client.fields
    for field in common { fields.setDefault(field.name, field.value) }
    var credential = [client.identity]
    var selecting: [String] = []
    for field in fields {
      if credentials.contains(field.name) {
        credential.append(field.name.canonicalName + ":" + field.value)
      } else if !CacheKeyMaker.selectsNothing(field.name) {
        selecting.append(field.name.canonicalName + ":" + field.value)
      }
    }
    return Digests(
      scope: Array(digest("scope", credential)), variant: Array(digest("variant", selecting.sorted()).prefix(16)))
  }

  /// Each text is digested together with its length, so that no two lists give the same bytes.
  private func digest(_ purpose: String, _ texts: [String]) -> [UInt8] {
    var bytes: [UInt8] = Array(purpose.utf8)
    for text in texts {
      bytes += Array("\n\(text.utf8.count):".utf8)
      bytes += Array(text.utf8)
    }
    return Digest.hmac(bytes, key: salt)
  }

  /// Whether a field never selects a representation. All other fields are part of the key: a mismatch is a miss, never
  /// a wrong response.
  private static func selectsNothing(_ name: HTTPFieldName) -> Bool {
    switch name.canonicalName {
    case "user-agent", "cache-control", "pragma", "x-csrf-token", "connection", "date", "from", "referer", "origin",
      "traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "x-correlationid", "sap-passport",
      "x-requested-with", "content-type", "client-request-id", "request-id":
      true
    default: false
    }
  }
}
