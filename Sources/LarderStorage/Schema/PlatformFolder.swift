#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The platform's folders for files of an application, where the application names none. Never the current folder.
package enum PlatformFolder {
  /// For what is lost with its file: `Library/Application Support` on Apple platforms, elsewhere `$XDG_DATA_HOME` or
  /// `~/.local/share`; in it a folder with the application's name.
  package static var data: String {
    #if canImport(Darwin)
      return inside(folder(.applicationSupportDirectory))
    #else
      return inside(folder("XDG_DATA_HOME", or: ".local/share"))
    #endif
  }

  /// For what can be fetched again: `Library/Caches` on Apple platforms, elsewhere `$XDG_CACHE_HOME` or `~/.cache`; in it a
  /// folder with the application's name.
  package static var caches: String {
    #if canImport(Darwin)
      return inside(folder(.cachesDirectory))
    #else
      return inside(folder("XDG_CACHE_HOME", or: ".cache"))
    #endif
  }

  private static func inside(_ folder: String) -> String {
    folder + "/" + FileName.distinct(ProcessInfo.processInfo.processName)
  }

  #if canImport(Darwin)
    /// In a sandbox the application's own.
    private static func folder(_ kind: FileManager.SearchPathDirectory) -> String {
      FileManager.default.urls(for: kind, in: .userDomainMask).first?.path
        ?? FileManager.default.temporaryDirectory.path
    }
  #else
    /// The folder that a variable names, else one in the user's own. Relative paths do not count, as the XDG Base Directory
    /// Specification says.
    private static func folder(_ variable: String, or usual: String) -> String {
      let environment = ProcessInfo.processInfo.environment
      if let folder = environment[variable], folder.hasPrefix("/") { return folder }
      if let home = environment["HOME"], home.hasPrefix("/") { return home + "/" + usual }
      return FileManager.default.homeDirectoryForCurrentUser.path + "/" + usual
    }
  #endif
}

/// Names of files that are made of names of anything.
package enum FileName {
  /// A name for a file. Two different texts never give names that differ by letter case or by Unicode normalization alone,
  /// which many file systems take for one.
  ///
  /// Short texts of small letters, digits, `-`, `_` and single dots are names as they are. All others become such a text, and
  /// a digest follows it.
  package static func distinct(_ text: String) -> String {
    var name = ""
    for byte in text.utf8.prefix(64) {
      switch byte {
      case 0x30...0x39, 0x61...0x7A, 0x2D, 0x5F: name.unicodeScalars.append(UnicodeScalar(byte))
      case 0x2E where !name.isEmpty && name.utf8.last != 0x2E: name.unicodeScalars.append(UnicodeScalar(byte))
      case 0x41...0x5A: name.unicodeScalars.append(UnicodeScalar(byte + 0x20))
      default: name += "_"
      }
    }
    // Characters, not bytes, are compared by normalization.
    if !name.isEmpty, name.utf8.elementsEqual(text.utf8), !name.hasSuffix(".") { return name }
    return name + "-" + Digest.hexadecimal(Digest.sha256(Array(text.utf8)).prefix(8))
  }
}
