//! Diagnostics of all stores in one log.

import Foundation
import Larder

/// The part of swift-log's `Logger` that this page uses. An application imports `Logging` instead.
struct Logger: Sendable {
  enum Level { case debug, info, warning, error }
  enum MetadataValue { case string(String) }

  let label: String

  func log(level: Level, _ message: String, metadata: [String: MetadataValue], source: String) {
    print(level, source, message, metadata)
  }
}

enum Log {
  static let logger = Logger(label: "com.example.orders")
}

/// Forwards what stores report to swift-log.
@Sendable func log(_ diagnostic: LarderDiagnostic) {
  let level: Logger.Level =
    switch diagnostic.level {
    case .debug: .debug
    case .info: .info
    case .warning: .warning
    case .error: .error
    }
  var metadata = diagnostic.fields.mapValues { Logger.MetadataValue.string($0) }
  metadata["name"] = .string(diagnostic.name)
  Log.logger.log(level: level, "\(diagnostic.message)", metadata: metadata, source: diagnostic.module)
}

func openStores(in folder: String) async throws {
  let online = OnlineStoreOptions(useCache: true, onDiagnostic: log)
  let offline = OfflineODataParameters(onDiagnostic: log)
  var content = HTTPCacheOptions()
  content.onDiagnostic = log
  let files = try FileCache(path: folder + "/files", onDiagnostic: log)
  let objects = try await ObjectStore(path: folder + "/objects", onDiagnostic: log)
  print(online, offline, content, files, objects)
}

#if canImport(os)
  import os

  /// Forwards what stores report to the log of Apple's systems.
  @Sendable func logToSystem(_ diagnostic: LarderDiagnostic) {
    let type: OSLogType =
      switch diagnostic.level {
      case .debug: .debug
      case .info: .info
      case .warning: .default
      case .error: .error
      }
    let logger = os.Logger(subsystem: "com.example.orders", category: diagnostic.module)
    logger.log(level: type, "\(diagnostic.name, privacy: .public): \(diagnostic.message)")
  }
#endif
