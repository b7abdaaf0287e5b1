@_spi(Stores) import LarderHTTP
import LarderOData

/// What a response with the status 404 or 410 says about its resource.
///
/// A proxy, a gateway and the host of a service that is switched off send these statuses, too (RFC 9110 §15.5.5,
/// §15.5.11). So only the service's own statement about the resource proves that the resource does not exist.
package enum AbsenceStatement: Sendable, Hashable {
  /// The service says that the resource does not exist: in the response to a part of a batch, or with an error of OData.
  case resource
  /// An error of OData that may be about the entity set, the path or the service.
  case path
  /// There is no error of OData, and no sign of another sender.
  case silent
  /// Content that a service of OData does not send with an error, such as a web page.
  case foreign

  /// The statement of an error; nil if it has another status.
  package init?(_ error: ODataServiceError) {
    guard case .http(let status, let payload) = error.category, status == 404 || status == 410 else { return nil }
    let fields = error.response?.fields ?? [:]
    // Services name the version in their responses (Protocol 4.01 §8.1.5).
    let namesVersion = fields.contains(.odataVersion) || fields.contains(.dataServiceVersion)
    if error.isOfBatchPart {
      self = .resource
    } else if let payload {
      self = AbsenceStatement.of(payload, url: error.response?.url ?? error.url ?? "", namesVersion: namesVersion)
    } else {
      self = namesVersion || error.response?.payloadBytes.isEmpty ?? true ? .silent : .foreign
    }
  }

  /// The statement of an error of OData. Services use no common codes, so its words decide. Doubt costs one request.
  ///
  /// - Parameter namesVersion: whether the response names a version of OData.
  static func of(_ error: ODataErrorPayload, url: String, namesVersion: Bool) -> AbsenceStatement {
    let text = "\(error.code) \(error.message)".lowercased()
    // SAP: errors of the hub are about the service, those of the back end (`/IWBEP/`) are about its data.
    guard !text.hasPrefix("/iwfnd/"), !pathWords.contains(where: { text.contains($0) }) else { return .path }
    let words = Set(text.split { !$0.isLetter && !$0.isNumber }.map(String.init))
    let segment = NamedSegment(url: url.lowercased())
    if words.contains(segment.name) { return segment.keys.isDisjoint(with: words) ? .path : .resource }
    return namesVersion || !words.isSubset(of: generalWords) ? .resource : .path
  }

  /// An error that contains one of these may be about something else than the entity.
  private static let pathWords = [
    "segment", "entity set", "entityset", "entitycontainer", "collection", "singleton", "namespace", "controller",
    "service", "endpoint", "route", "path", "url", "uri", "http", "host", "server", "backend", "gateway", "upstream",
    "application", "tenant", "company", "database", "maintenance", "unavailable", "offline", "disabled", "inactive",
    "not active", "stopped", "badrequest_notfound",
  ]

  /// An error that consists of these says no more than the status.
  private static let generalWords: Set = [
    "404", "410", "a", "be", "been", "could", "does", "e", "error", "exist", "exists", "found", "gone", "has", "is",
    "it", "no", "none", "not", "notfound", "page", "removed", "request", "requested", "resource", "resourcenotfound",
    "such", "the", "was", "you",
  ]
}

/// The last segment with a key in a URL, such as `Orders(1)`; without keys, the last segment.
private struct NamedSegment {
  var name: String
  /// The words of the key.
  var keys: Set<String>

  init(url: String) {
    let segments = url.prefix { $0 != "?" }.split(separator: "/")
    let segment = segments.last { $0.contains("(") } ?? segments.last ?? ""
    name = String(segment.prefix { $0 != "(" })
    let key = String(segment.drop { $0 != "(" })
    keys = Set((PercentEncoding.decode(key) ?? key).split { !$0.isLetter && !$0.isNumber }.map(String.init))
  }
}
