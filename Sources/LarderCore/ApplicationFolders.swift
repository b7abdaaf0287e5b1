#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The application's name, and the platform's folders for its files: what the default locations of stores depend on.
package struct ApplicationFolders: Sendable {
  /// The name of the executable.
  package var application: String
  /// The folder for data of all applications: `Library/Application Support` on Apple platforms, otherwise
  /// `$XDG_DATA_HOME` or `~/.local/share`. Nil if the home folder is unknown.
  package var data: String?
  /// The folder for caches of all applications: `Library/Caches` on Apple platforms, otherwise `$XDG_CACHE_HOME` or
  /// `~/.cache`. Nil if the home folder is unknown.
  package var caches: String?

  /// Finds the folders with environment variables, as the XDG Base Directory Specification says: relative paths are
  /// ignored.
  package init(application: String, variables: [String: String]) {
    func folder(_ name: String) -> String? {
      guard var path = variables[name], path.hasPrefix("/") else { return nil }
      while path.count > 1, path.hasSuffix("/") { path.removeLast() }
      return path
    }
    #if canImport(Darwin)
      let (dataPath, cachesPath) = ("Library/Application Support", "Library/Caches")
    #else
      let (dataPath, cachesPath) = (".local/share", ".cache")
    #endif
    self.application = application
    let home = folder("HOME").map { $0 == "/" ? $0 : $0 + "/" }
    data = folder("XDG_DATA_HOME") ?? home.map { $0 + dataPath }
    caches = folder("XDG_CACHE_HOME") ?? home.map { $0 + cachesPath }
  }

  /// The name of an executable. Linux appends this suffix if the file has been replaced or removed while it runs.
  package static func name(_ processName: String) -> String {
    processName.hasSuffix(" (deleted)") ? String(processName.dropLast(10)) : processName
  }

  /// The folders of this process.
  package static let current: ApplicationFolders = {
    let process = ProcessInfo.processInfo
    #if canImport(Darwin)
      // In a sandbox these folders are the application's own.
      var folders = ApplicationFolders(application: process.processName, variables: [:])
      let manager = FileManager.default
      folders.data = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first?.path
      folders.caches = manager.urls(for: .cachesDirectory, in: .userDomainMask).first?.path
      return folders
    #else
      return ApplicationFolders(application: name(process.processName), variables: process.environment)
    #endif
  }()
}
