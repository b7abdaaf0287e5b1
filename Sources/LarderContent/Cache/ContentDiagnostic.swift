package import LarderCore

/// The diagnostics of the content cache and of the caches with files, each with what it reports.
package enum ContentDiagnostic: String, DiagnosticName {
  /// The cache could not be read; the request continued as if nothing were cached.
  case cacheReadFailed
  /// Content could not be stored; the caller received it all the same.
  case cacheWriteFailed
  /// A stored response could not be updated or invalidated; it is removed instead if it is outdated.
  case cacheUpdateFailed
  /// A stored response could not be removed.
  case cacheRemovalFailed
  /// Stored content was damaged on the disk; it was removed if that was possible.
  case entryDamaged
  /// Old entries could not be removed; the cache may exceed its limit.
  case evictionFailed
  /// Leftovers could not be removed; they use disk space until the folder is counted again.
  case cleanUpFailed

  package static let module = "LarderContent"

  package var form: (level: LarderDiagnostic.Level, fields: [String]) {
    switch self {
    case .entryDamaged: (.error, ["url"])
    case .cacheReadFailed, .cacheWriteFailed, .cacheUpdateFailed, .cacheRemovalFailed: (.warning, ["url"])
    case .evictionFailed, .cleanUpFailed: (.warning, ["path"])
    }
  }

  fileprivate var text: String {
    switch self {
    case .cacheReadFailed: "The cache could not be read"
    case .cacheWriteFailed: "A response could not be stored"
    case .cacheUpdateFailed: "A stored response could not be updated"
    case .cacheRemovalFailed: "A stored response could not be removed"
    case .entryDamaged: "Stored content was damaged"
    case .evictionFailed: "Old entries could not be removed from the cache"
    case .cleanUpFailed: "Leftovers could not be removed from the cache"
    }
  }
}

extension LarderDiagnostic {
  /// A failure of the cache during a request for a resource; nil if no single resource is concerned. Damage is reported
  /// as damage, whatever the cache was doing.
  static func failed(_ name: ContentDiagnostic, url: String?, _ error: CacheError) -> LarderDiagnostic {
    var name = name
    if case .corrupt = error { name = .entryDamaged }
    return LarderDiagnostic(
      name, "\(name.text): \(error)", ["url": url.map { LarderDiagnostic.url($0) }], error: error)
  }

  /// A failure of work in the background of a cache.
  static func failed(_ name: ContentDiagnostic, path: String, _ error: CacheError) -> LarderDiagnostic {
    LarderDiagnostic(name, "\(name.text): \(error)", ["path": path], error: error)
  }
}
