package import LarderHTTP

/// Whether a response may be stored (RFC 9111 §3).
package enum StorageVerdict: Sendable, Hashable {
  /// It may, and it is worth it.
  case store
  /// It may not, or nobody could ever use it.
  case refuse(Refusal)

  /// Why a response is not stored.
  package enum Refusal: String, Sendable, Hashable {
    /// Neither GET, nor POST with freshness of its own and the target as its `Content-Location`.
    case method
    /// The status has a meaning for this exchange only: 1xx, 304, 206 where it cannot be combined, 412, 416; or no cache
    /// may store it: 428, 429, 431, 511 (RFC 6585 §§3 to 6).
    case status
    /// The request said `no-store`.
    case requestNoStore
    /// The response said `no-store`.
    case responseNoStore
    /// `must-understand`, and the status is not one whose caching rules are known here.
    case notUnderstood
    /// `Vary: *`: no later request could match.
    case varyStar
    /// Nothing allows it: no freshness, no `public` or `private`, a status that is not cacheable by itself.
    case notCacheable
  }

  /// Decides about a final response; that its content arrived whole is the caller's to see to.
  ///
  /// A private cache: `private` and `Authorization` are no obstacle (§3.5).
  ///
  /// - Parameter storesPartial: whether a 206 can be kept (a single range of bytes, §3.3).
  /// - Parameter url: the target URI, normalised; matters for POST only.
  /// - Parameter contentLocation: `Content-Location` resolved and normalised the same way; matters for POST only.
  package static func of(
    _ request: RequestRules, method: HTTPMethod = .get, response: StoredRules, override: FreshnessOverride = .none,
    storesPartial: Bool = false, url: String? = nil, contentLocation: String? = nil
  ) -> StorageVerdict {
    if request.method != .get {
      // RFC 9110 §9.3.3: a POST's answer stands for a later GET only where it says so itself.
      let standsForTarget =
        method == .post && url != nil && url == contentLocation && (200...299).contains(response.status)
        && response.status != 206 && response.lifetime != nil && !response.isHeuristic
      if !standsForTarget { return .refuse(.method) }
    }
    switch response.status {
    case ..<200, 304, 412, 416, 428, 429, 431, 511: return .refuse(.status)
    case 206 where !storesPartial: return .refuse(.status)
    default: break
    }
    if request.cacheControl.contains(.noStore) { return .refuse(.requestNoStore) }
    let said = response.cacheControl
    if said.contains(.mustUnderstand) {
      // §5.2.2.3: who understands the status ignores `no-store`, which stands there for those who do not.
      if !isUnderstood(response.status) { return .refuse(.notUnderstood) }
    } else if said.contains(.noStore) {
      return .refuse(.responseNoStore)
    }
    if response.vary?.matchesNothing == true { return .refuse(.varyStar) }
    let isExplicit = response.lifetime != nil && !response.isHeuristic
    let isAllowed = isExplicit || said.contains(.isPublic) || said.contains(.isPrivate)
    if isAllowed || StoredRules.isHeuristicallyCacheable(response.status) { return .store }
    if override.ttl != nil, (200...299).contains(response.status) { return .store }
    return .refuse(.notCacheable)
  }

  /// Statuses whose caching requirements are known here: those of RFC 9110 §15 that are final.
  package static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 500...505: true
    default: false
    }
  }
}
