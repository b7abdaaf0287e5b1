package import LarderCore
import LarderStorage

/// The diagnostics of the online store, each with what it reports.
package enum OnlineDiagnostic: String, DiagnosticName {
  /// The cache's file was damaged; it was moved aside, and a new cache was created.
  case cacheReplaced
  /// The cache could not be read; the request continued as if nothing were cached.
  case cacheReadFailed
  /// The cache could not be changed; the caller received the response all the same.
  case cacheWriteFailed
  /// A cached response was damaged on the disk; it is removed if that is possible.
  case entryDamaged
  /// A response is larger than the cache's size limit, and was not cached.
  case entryTooLarge
  /// The cache exceeded its size limit; the least recently used responses were removed.
  case cacheCleanedUp
  /// The cached metadata could not be read; it is downloaded again if the network may be used.
  case metadataUnreadable
  /// The service rejects conditions inside batches; they are left out until the store is closed.
  case batchConditionsRejected
  /// The service rejects requests for change tracking; they are left out until the store is closed.
  case trackingRejected

  package static let module = "LarderOnline"

  package var form: (level: LarderDiagnostic.Level, fields: [String]) {
    switch self {
    case .cacheReplaced: (.error, ["path", "movedTo", "reason"])
    case .cacheReadFailed, .cacheWriteFailed: (.warning, ["urls"])
    case .entryDamaged: (.error, ["url"])
    case .entryTooLarge: (.warning, ["url", "bytes"])
    case .cacheCleanedUp: (.debug, ["entries", "bytes"])
    case .metadataUnreadable: (.warning, ["reason"])
    case .batchConditionsRejected, .trackingRejected: (.warning, ["status"])
    }
  }
}

extension LarderDiagnostic {
  static func cacheReplaced(path: String, movedTo: String, reason: String) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.cacheReplaced,
      "The cache \(path) was damaged (\(reason)); it was moved to \(movedTo), and a new cache was created.",
      ["path": path, "movedTo": movedTo, "reason": reason])
  }

  static func cacheReadFailed(urls: [String], _ error: StorageError) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.cacheReadFailed, "The cache could not be read: \(error)", ["urls": list(urls)], error: error)
  }

  static func cacheWriteFailed(urls: [String], _ error: StorageError) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.cacheWriteFailed, "The cache could not be changed: \(error)", ["urls": list(urls)], error: error)
  }

  static func entryDamaged(url: String) -> LarderDiagnostic {
    let url = LarderDiagnostic.url(url)
    return LarderDiagnostic(
      OnlineDiagnostic.entryDamaged, "The stored response of \(url) was damaged; it is removed if that is possible.",
      ["url": url])
  }

  static func entryTooLarge(url: String, bytes: Int) -> LarderDiagnostic {
    let url = LarderDiagnostic.url(url)
    return LarderDiagnostic(
      OnlineDiagnostic.entryTooLarge,
      "The response of \(url) was not stored, because it is larger than the cache: \(bytes) bytes.",
      ["url": url, "bytes": String(bytes)])
  }

  static func cacheCleanedUp(entries: Int, bytes: Int) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.cacheCleanedUp, "\(entries) responses (\(bytes) bytes) were removed to free space.",
      ["entries": String(entries), "bytes": String(bytes)])
  }

  static func metadataUnreadable(reason: String) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.metadataUnreadable, "The cached metadata could not be read: \(reason)", ["reason": reason])
  }

  static func batchConditionsRejected(status: Int) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.batchConditionsRejected, "The service rejects conditions in batches (HTTP \(status)).",
      ["status": String(status)])
  }

  static func trackingRejected(status: Int) -> LarderDiagnostic {
    LarderDiagnostic(
      OnlineDiagnostic.trackingRejected, "The service rejects change tracking (HTTP \(status)).",
      ["status": String(status)])
  }

  /// URLs as a field contains them, separated by spaces; nil if there are none.
  private static func list(_ urls: [String]) -> String? {
    urls.isEmpty ? nil : urls.map(LarderDiagnostic.url).joined(separator: " ")
  }
}
