internal import LarderOData
internal import LarderOffline

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The folder that `larder clone` creates: a settings file and the offline store's file.
///
/// The settings contain only the service's root. The defining queries are in the store, and credentials are stored
/// nowhere.
struct CloneFolder: Sendable {
  /// The name of the settings file.
  static let settingsName = "larder.json"
  /// What is wrong with a settings file that does not name the service.
  static let noServiceReason =
    "it contains no valid \"service\" URL; restore the file, or clone again into another folder"
  /// The name of the store in the folder.
  static let storeBase = "store"
  /// The name of the store's file.
  static let storeName = storeBase + ".larder"

  /// The folder's path; `.` for the current folder.
  let path: String
  /// The path that the user gave.
  let displayName: String
  /// The service's root; ends with a slash.
  let service: String

  /// The service's root as a URL.
  var root: URL {
    get throws(FileError) {
      guard let root = URL(string: service) else {
        throw FileError(path: Self.settingsName, reason: Self.noServiceReason)
      }
      return root
    }
  }

  /// The path of the store's file, whether or not it exists.
  var store: String { path + "/" + Self.storeName }

  /// Sets the place of the store's file in its parameters.
  func setLocation(_ parameters: inout OfflineODataParameters) {
    parameters.storeName = Self.storeBase
    parameters.path = path
  }

  /// The option for a verb that should work in the folder: empty, or `-C DIR` followed by a space.
  var option: String { displayName == "." ? "" : "-C \(displayName) " }

  /// The clone in the command's folder.
  static func current(_ context: CommandContext) throws -> CloneFolder {
    let path = context.directory.isEmpty ? "." : context.directory
    let settings = context.path(settingsName)
    guard InputFile.exists(settings) else {
      if let unfinished = unfinished(context) { throw unfinished.failure }
      throw FileError(
        path: settings, reason: "this folder is not a clone; 'larder clone' creates one, and -C DIR selects its folder")
    }
    guard let service = service(in: try InputFile.read(settings, limit: InputFile.settingsLimit)) else {
      throw FileError(path: settings, reason: noServiceReason)
    }
    return CloneFolder(path: path, displayName: path, service: service)
  }

  /// The unfinished clone that will be in the command's folder; nil if there is none.
  static func unfinished(_ context: CommandContext) -> UnfinishedClone? {
    guard !InputFile.exists(context.path(settingsName)) else { return nil }
    return UnfinishedClone(of: context.directory.isEmpty ? "." : context.directory)
  }

  /// The clone in the command's folder. Throws if it has no store, unless a user is given, whose store may be set
  /// aside.
  static func existing(_ arguments: ParsedArguments, _ context: CommandContext) throws -> CloneFolder {
    let folder = try current(context)
    guard try InputFile.exists(folder.store) || StoreUserOption.user(arguments, context) != nil else {
      throw FileError(
        path: context.path(storeName), reason: "the clone has no store; delete the folder and clone again")
    }
    return folder
  }

  /// The total size of the store's files in bytes, without other users' copies beside them.
  var size: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let storeFiles = names.filter { $0.hasPrefix(Self.storeName) && !$0.hasPrefix(Self.storeName + "-user-") }
    return storeFiles.reduce(0) { $0 + InputFile.size(path + "/" + $1) }
  }

  /// Writes the settings file.
  func writeSettings() throws {
    // The file is private because the URL may contain a key.
    var file = try OutputFile.create(path + "/" + Self.settingsName, isPrivate: true)
    try file.write(try Self.settings(service))
    try file.finish()
  }

  /// The content of a settings file.
  static func settings(_ service: String) throws -> [UInt8] {
    let collector = Collector()
    var json = JSONOutput(collector.port, isIndented: true)
    json.beginObject()
    json.member("service", service)
    json.endObject()
    try json.endLine()
    return collector.bytes
  }

  /// The service that a settings file names; nil if it names none.
  static func service(in settings: [UInt8]) -> String? {
    guard let service = try? JSONNode(settings)["service"]?.string, URL(string: service)?.host() != nil else {
      return nil
    }
    return service
  }
}
