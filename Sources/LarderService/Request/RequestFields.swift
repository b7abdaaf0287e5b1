import LarderHTTP
import LarderOData

/// The header fields that OData requires, by the service's version (OData Protocol 4.01 §8; OData V2 Overview §3).
package enum RequestFields {
  /// The media types that a response to a request for a path may have, if the request does not say.
  package static func accept(path: String) -> String { accept(Kind(path: path), version: nil, isAtom: false) }

  /// The kind of content that the response to a request has.
  enum Kind: Sendable, Hashable {
    /// An OData payload.
    case payload
    /// `$count`: plain text.
    case count
    /// `$value`, media: any content.
    case raw
    /// `$metadata`.
    case metadata
    /// `$batch`: the batch format.
    case batch(json: Bool)

    /// Determines the kind from the last segment of a path.
    init(path: String) {
      let segment = path.prefix { $0 != "?" }.split(separator: "/").last ?? ""
      switch segment {
      case "$count": self = .count
      case "$value": self = .raw
      case "$metadata": self = .metadata
      default: self = .payload
      }
    }
  }

  /// Creates the fields of a request.
  ///
  /// - Parameters:
  ///   - version: the service's version; nil if it is not known yet. Then services of both families are sent the
  ///     highest version that this library reads.
  ///   - hasBody: whether the content is written in the service's own version.
  static func fields(_ kind: Kind, version: ODataVersion?, isAtom: Bool, hasBody: Bool) -> HTTPFields {
    var fields: HTTPFields = [.accept: accept(kind, version: version, isAtom: isAtom)]
    if version.map({ $0 < .v4 }) ?? true { fields[.maxDataServiceVersion] = "3.0" }
    if version.map({ $0 >= .v4 }) ?? true { fields[.odataMaxVersion] = "4.01" }
    if hasBody, let version { fields[version.field] = version.text }
    return fields
  }

  private static func accept(_ kind: Kind, version: ODataVersion?, isAtom: Bool) -> String {
    switch kind {
    case .payload: isAtom ? "application/atom+xml, application/xml;q=0.9" : "application/json"
    case .count: "text/plain, */*;q=0.1"
    case .raw: "*/*"
    case .metadata: version == .v401 ? "application/xml, application/json;q=0.5" : "application/xml"
    case .batch(let json): json ? "application/json" : "multipart/mixed"
    }
  }

  /// The values of the `Prefer` field that follow from a request's properties.
  static func prefer(_ request: ODataSingleRequest, version: ODataVersion?) -> String? {
    guard let preference = request.returnPreference, version.map({ $0 >= .v3 }) ?? true else { return nil }
    switch version {
    case .v3: return preference == .minimal ? "return-no-content" : "return-content"
    default: return "return=\(preference.rawValue)"
    }
  }

  /// The method with which an operation is sent.
  static func method(_ operation: ODataSingleRequest.Operation, version: ODataVersion?) -> HTTPMethod {
    switch operation {
    case .read, .readMedia, .invokeFunction: .get
    case .create, .createLink, .invokeAction, .createMedia: .post
    case .update(.patch): version == .v2 ? .merge : .patch
    case .update(.merge): .merge
    case .update(.replace), .updateLink, .updateMedia: .put
    case .delete, .deleteLink, .deleteMedia: .delete
    }
  }
}
