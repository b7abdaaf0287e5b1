internal import OData
internal import OfflineOData

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif
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
      throw FileError(
        path: settings, reason: "there is no clone here; 'larder clone' makes one, and -C DIR names its folder")
    }
    let bytes = try InputFile.read(settings, limit: InputFile.settingsLimit)
    guard let service = try? JSONNode(bytes)["service"]?.string, URL(string: service)?.host() != nil else {
      throw FileError(path: settings, reason: "it does not say which service is cloned")
    }
    return CloneFolder(path: path, shown: path, service: service)
  }

  /// The same, with a store in it; that of a user may be set aside.
  static func filled(_ arguments: ParsedArguments, _ context: CommandContext) throws -> CloneFolder {
    let folder = try current(context)
    guard try InputFile.exists(folder.store) || StoreUserOption.user(arguments, context) != nil else {
      throw FileError(path: context.path(storeName), reason: "the clone has no store; clone again")
    }
    return folder
  }

  /// Makes a folder for a clone, or takes an empty one, and writes the settings.
  static func make(_ given: String, service: String, _ context: CommandContext) throws -> (CloneFolder, Made) {
    let path = context.path(given)
    let manager = FileManager.default
    var made = Made.folder
    if InputFile.exists(path) {
      guard InputFile.isDirectory(path) else {
        throw FileError(action: "written", path: path, reason: "it is no folder")
      }
      let content: [String]
      do { content = try manager.contentsOfDirectory(atPath: path) } catch {
        throw FileError(path: path, reason: reason(error))
      }
      guard content.isEmpty else {
        let isClone = content.contains(settingsName)
        throw CommandFailure(
          .storage, "\(given) is not empty",
          hint: isClone
            ? "It is a clone already: 'larder -C \(given) download' brings what has changed."
            : "Name a folder that is not there yet, or an empty one.")
      }
      made = .files
    } else {
      do { try manager.createDirectory(atPath: path, withIntermediateDirectories: true) } catch {
        throw FileError(action: "written", path: path, reason: reason(error))
      }
    }
    let folder = CloneFolder(path: path, shown: given, service: service)
    do { try folder.writeSettings() } catch {
      folder.remove(made)
      throw error
    }
    return (folder, made)
  }

  /// What ``make(_:service:_:)`` made.
  enum Made: Sendable {
    /// The folder itself.
    case folder
    /// Only what is in it.
    case files
  }

  /// Takes away what was made: nothing of a clone that failed early stays.
  func remove(_ made: Made) {
    let manager = FileManager.default
    switch made {
    case .folder: try? manager.removeItem(atPath: path)
    case .files:
      for name in (try? manager.contentsOfDirectory(atPath: path)) ?? [] {
        try? manager.removeItem(atPath: path + "/" + name)
      }
    }
  }

  /// The bytes of the store's files together, without other users' copies, which lie beside it.
  var size: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let own = names.filter { $0.hasPrefix(Self.storeName) && !$0.hasPrefix(Self.storeName + "-user-") }
    return own.reduce(0) { $0 + InputFile.size(path + "/" + $1) }
  }

  private func writeSettings() throws {
    let collector = Collector()
    var json = JSONOutput(collector.port, isIndented: true)
    json.beginObject()
    json.member("service", service)
    json.endObject()
    try json.endLine()
    let file = try OutputFile.create(path + "/" + Self.settingsName)
    try file.write(collector.bytes)
    try file.finish()
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? CocoaError else { return "\(error)" }
    return (error.underlying as? POSIXError).map { FileDescriptors.reason($0.code.rawValue) }
      ?? "the system refuses (\(error.code.rawValue))"
  }
}
