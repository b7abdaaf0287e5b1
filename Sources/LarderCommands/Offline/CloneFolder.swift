internal import LarderOData
internal import LarderOffline

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The folder that `larder clone` makes: a settings file and the offline store's file.
///
/// The settings are the service's root alone; the defining queries are in the store, credentials nowhere.
struct CloneFolder: Sendable {
  /// The settings' file in the folder.
  static let settingsName = "larder.json"
  /// The name of the store in the folder.
  static let storeBase = "store"
  /// Its file.
  static let storeName = storeBase + ".larder"

  /// The folder's path; `.` for the process's own.
  let path: String
  /// The path as the user gave it.
  let shown: String
  /// The service's root; ends with a slash.
  let service: String

  /// The service's root as a URL.
  var root: URL {
    get throws(FileError) {
      guard let root = URL(string: service) else {
        throw FileError(path: Self.settingsName, reason: "it does not say which service is cloned")
      }
      return root
    }
  }

  /// Where the store's file is, or will be.
  var store: String { path + "/" + Self.storeName }

  /// Says in a store's parameters where its file is.
  func place(_ parameters: inout OfflineODataParameters) {
    parameters.storeName = Self.storeBase
    parameters.storePath = path
  }

  /// What stands before a verb that is to work in the folder: empty, or `-C DIR` with a space behind it.
  var option: String { shown == "." ? "" : "-C \(shown) " }

  /// The clone in the folder that a command works in.
  static func current(_ context: CommandContext) throws -> CloneFolder {
    let path = context.directory.isEmpty ? "." : context.directory
    let settings = context.path(settingsName)
    guard InputFile.exists(settings) else {
      if let unfinished = unfinished(context) { throw unfinished.failure }
      throw FileError(
        path: settings, reason: "there is no clone here; 'larder clone' makes one, and -C DIR names its folder")
    }
    guard let service = service(in: try InputFile.read(settings, limit: InputFile.settingsLimit)) else {
      throw FileError(path: settings, reason: "it does not say which service is cloned")
    }
    return CloneFolder(path: path, shown: path, service: service)
  }

  /// The clone that is not finished, where a command works in the folder that it is to have; nil where there is none.
  static func unfinished(_ context: CommandContext) -> UnfinishedClone? {
    guard !InputFile.exists(context.path(settingsName)) else { return nil }
    return UnfinishedClone(of: context.directory.isEmpty ? "." : context.directory)
  }

  /// The clone in the folder that a command works in, with a store in it; that of a user may be set aside.
  static func filled(_ arguments: ParsedArguments, _ context: CommandContext) throws -> CloneFolder {
    let folder = try current(context)
    guard try InputFile.exists(folder.store) || StoreUserOption.user(arguments, context) != nil else {
      throw FileError(
        path: context.path(storeName), reason: "the clone has no store; delete the folder and clone again")
    }
    return folder
  }

  /// The bytes of the store's files together, without other users' copies, which lie beside it.
  var size: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let own = names.filter { $0.hasPrefix(Self.storeName) && !$0.hasPrefix(Self.storeName + "-user-") }
    return own.reduce(0) { $0 + InputFile.size(path + "/" + $1) }
  }

  /// Writes the settings' file.
  func writeSettings() throws {
    // The URL may hold a key.
    var file = try OutputFile.create(path + "/" + Self.settingsName, isPrivate: true)
    try file.write(try Self.settings(service))
    try file.finish()
  }

  /// The content of a settings' file.
  static func settings(_ service: String) throws -> [UInt8] {
    let collector = Collector()
    var json = JSONOutput(collector.port, isIndented: true)
    json.beginObject()
    json.member("service", service)
    json.endObject()
    try json.endLine()
    return collector.bytes
  }

  /// The service that the content of a settings' file names; nil where it names none.
  static func service(in settings: [UInt8]) -> String? {
    guard let service = try? JSONNode(settings)["service"]?.string, URL(string: service)?.host() != nil else {
      return nil
    }
    return service
  }
}
