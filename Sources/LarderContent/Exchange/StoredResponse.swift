package import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The parts of a GET or HEAD without ranges and preconditions that a lookup needs.
struct PlainRequest {
  let rules: RequestRules
  let fields: HTTPFields
  let policy: ContentPolicy
  let override: FreshnessOverride

  init(_ rules: RequestRules, fields: HTTPFields, policy: ContentPolicy, override: FreshnessOverride) {
    self.rules = rules
    self.fields = fields
    self.policy = policy
    self.override = override
  }
}

/// A stored response that is used for a request as it is.
package struct StoredResponse: Sendable {
  /// The response's fields, with `Age` (RFC 9111 §5.1) and `Cache-Status` (RFC 9211).
  package let fields: HTTPFields
  /// True if the request needs no content.
  let isHead: Bool
  let age: Int64
  private let entry: CacheEntry

  /// - Parameter hitStatus: the `Cache-Status` up to the seconds.
  init(_ entry: CacheEntry, _ freshness: Freshness, hitStatus: String, isHead: Bool) {
    self.entry = entry
    self.isHead = isHead
    age = max(0, freshness.ageInSeconds)
    var fields = entry.metadata.fields
    fields[.age] = String(age)
    fields.append(.cacheStatus, hitStatus + String(freshness.remainingSeconds))
    self.fields = fields
  }

  /// The response's status.
  package var status: Int { entry.metadata.status }

  /// The content if it is in memory; empty for HEAD.
  package var bytes: [UInt8]? { isHead ? [] : entry.bytesInMemory }

  fileprivate var origin: ContentOrigin { entry.tier == .memory ? .memory : .disk }
}

extension CachedResponse {
  /// Creates a response from a stored one and its content, by default the content in memory.
  init(_ stored: StoredResponse, _ url: URL, _ body: HTTPBodyStream? = nil) {
    let response = HTTPResponse(
      status: stored.status, fields: stored.fields, url: url, body: body ?? HTTPBodyStream(stored.bytes ?? []))
    self.init(
      response: response, origin: stored.origin, age: .seconds(stored.age), storing: .stored)
  }
}
