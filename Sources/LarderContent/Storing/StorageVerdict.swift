package import LarderHTTP

/// Whether a response may be stored (RFC 9111 §3).
package enum StorageVerdict: Sendable, Hashable {
  /// The response may be stored, and can be used later.
  case store
  /// The response must not be stored, or could never be used.
  case reject(Reason)

  /// Why a response is not stored.
  package enum Reason: String, Sendable, Hashable {
    /// The method is neither GET, nor POST with freshness of its own and the target as its `Content-Location`.
    case method
    /// The status has a meaning for this exchange only: 1xx, 304, 206 if it cannot be combined, 412, 416; or caches
    /// must not store it: 428, 429, 431, 511 (RFC 6585 §§3 to 6).
    case status
    /// The request has `no-store`.
    case requestNoStore
    /// The response has `no-store`.
    case responseNoStore
    /// The response has `must-understand`, and its status is not one whose caching rules are known here.
    case notUnderstood
    /// `Vary: *`: no later request could match.
    case varyStar
    /// Nothing allows it: the response has no freshness, no `public` or `private`, and a status that is not cacheable
    /// on its own.
    case notCacheable
  }

  /// Decides about a final response. The caller must check that its content arrived completely.
  ///
  /// For a private cache, `private` and `Authorization` do not prevent storing (§3.5).
  ///
  /// - Parameter storesPartial: whether a 206 can be stored (a single range of bytes, §3.3).
  /// - Parameter url: the target URI, normalised; used for POST only.
  /// - Parameter contentLocation: `Content-Location` resolved and normalised in the same way; used for POST only.
  package static func of(
    _ request: RequestRules, method: HTTPMethod = .get, response: StoredRules, override: FreshnessOverride = .none,
    storesPartial: Bool = false, url: String? = nil, contentLocation: String? = nil
  ) -> StorageVerdict {
    if request.method != .get {
      // RFC 9110 §9.3.3: a POST's response is used for a later GET only if it declares this itself.
      let representsTarget =
        method == .post && url != nil && url == contentLocation && (200...299).contains(response.status)
        && response.status != 206 && response.lifetime != nil && !response.isHeuristic
      if !representsTarget { return .reject(.method) }
    }
    switch response.status {
    case ..<200, 304, 412, 416, 428, 429, 431, 511: return .reject(.status)
    case 206 where !storesPartial: return .reject(.status)
    default: break
    }
    if request.cacheControl.contains(.noStore) { return .reject(.requestNoStore) }
    let responseControl = response.cacheControl
    if responseControl.contains(.mustUnderstand) {
      // §5.2.2.3: a cache that understands the status ignores `no-store`, which is meant for caches that do not.
      if !isUnderstood(response.status) { return .reject(.notUnderstood) }
    } else if responseControl.contains(.noStore) {
      return .reject(.responseNoStore)
    }
    if response.vary?.matchesNothing == true { return .reject(.varyStar) }
    let isExplicit = response.lifetime != nil && !response.isHeuristic
    let isAllowed = isExplicit || responseControl.contains(.isPublic) || responseControl.contains(.isPrivate)
    if isAllowed || StoredRules.isHeuristicallyCacheable(response.status) { return .store }
    if override.ttl != nil, (200...299).contains(response.status) { return .store }
    return .reject(.notCacheable)
  }

  /// Whether the caching requirements of a status are known here: true for the final statuses of RFC 9110 §15.
  package static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}
